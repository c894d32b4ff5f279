//! `+`, `-` and `*` of whole numbers end in an error where 64 bits do not hold what comes out, as in
//! DuckDB. The engine's own wrap round in silence.

use std::any::Any;
use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::arrow::compute::kernels::numeric::{add, mul, sub};
use datafusion::common::{DFSchema, DataFusionError, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, cast,
};
use datafusion::physical_expr_common::datum::apply;
use datafusion::sql::sqlparser::ast::BinaryOperator;

/// Puts them in the place of the engine's own.
#[derive(Debug)]
pub(super) struct CheckedArithmetic;

/// One of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operator: BinaryOperator,
    signature: Signature,
}

impl ExprPlanner for CheckedArithmetic {
    fn plan_binary_op(
        &self,
        raw: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>, DataFusionError> {
        use BinaryOperator::{Minus, Multiply, Plus};
        if !matches!(raw.op, Plus | Minus | Multiply) {
            return Ok(PlannerResult::Original(raw));
        }
        let (Some(left), Some(right)) = (wide(&raw.left, schema), wide(&raw.right, schema)) else {
            return Ok(PlannerResult::Original(raw));
        };
        let signature = Signature::exact(vec![DataType::Int64; 2], Volatility::Immutable);
        let function = ScalarUDF::new_from_impl(Checked { operator: raw.op, signature });
        let call = ScalarFunction::new_udf(Arc::new(function), vec![left, right]);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// A whole number in 64 bits; `None` of anything else.
fn wide(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    // What was put in place before is known to be one: a chain is not walked again at each link.
    if let Expr::ScalarFunction(call) = expr
        && (call.func.inner().as_ref() as &dyn Any).is::<Checked>()
    {
        return Some(expr.clone());
    }
    match expr.get_type(schema).ok()? {
        DataType::Int64 => Some(expr.clone()),
        whole if whole.is_integer() => Some(cast(expr.clone(), DataType::Int64)),
        _ => None,
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        match self.operator {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            _ => "*",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::Int64)
    }

    /// A column without a name is called after what gives it.
    fn schema_name(&self, args: &[Expr]) -> Result<String, DataFusionError> {
        let [left, right] = args else { return plan_err!("{} takes two numbers", self.name()) };
        Ok(format!("{} {} {}", left.schema_name(), self.name(), right.schema_name()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let [left, right] = args.args.as_slice() else {
            return plan_err!("{} takes two numbers", self.name());
        };
        let kernel = match self.operator {
            BinaryOperator::Plus => add,
            BinaryOperator::Minus => sub,
            _ => mul,
        };
        apply(left, right, kernel)
    }
}
