//! Arithmetic of whole numbers ends in an error where 64 bits do not hold what comes out, as in DuckDB.
//! The engine's own `+`, `-` and `*` wrap round in silence.

use std::any::Any;
use std::fmt::Write;
use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::arrow::compute::kernels::numeric::{add, div, mul, rem, sub};
use datafusion::common::{DFSchema, DataFusionError, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, cast,
};
use datafusion::physical_expr_common::datum::apply;
use datafusion::sql::sqlparser::ast::BinaryOperator;

/// Puts it in the place of the engine's own.
#[derive(Debug)]
pub(super) struct CheckedArithmetic;

/// A chain of operators from left to right, one less than there are numbers. That it is one function
/// and not one for each keeps long chains cheap.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operators: Vec<BinaryOperator>,
    signature: Signature,
}

impl ExprPlanner for CheckedArithmetic {
    fn plan_binary_op(
        &self,
        raw: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>, DataFusionError> {
        use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
        if !matches!(raw.op, Plus | Minus | Multiply | Divide | Modulo) {
            return Ok(PlannerResult::Original(raw));
        }
        let (Some(left), Some(right)) = (wide(&raw.left, schema), wide(&raw.right, schema)) else {
            return Ok(PlannerResult::Original(raw));
        };
        let (mut operators, mut numbers) = match left {
            Expr::ScalarFunction(call) => match checked(&call) {
                Some(chain) => (chain.operators.clone(), call.args),
                None => (Vec::new(), vec![Expr::ScalarFunction(call)]),
            },
            left => (Vec::new(), vec![left]),
        };
        operators.push(raw.op);
        numbers.push(right);
        let types = vec![DataType::Int64; numbers.len()];
        let signature = Signature::exact(types, Volatility::Immutable);
        let chain = ScalarUDF::new_from_impl(Checked { operators, signature });
        let call = ScalarFunction::new_udf(Arc::new(chain), numbers);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(call)))
    }
}

/// The chain that a function is.
fn checked(call: &ScalarFunction) -> Option<&Checked> {
    (call.func.inner().as_ref() as &dyn Any).downcast_ref()
}

/// A whole number in 64 bits; `None` of anything else.
fn wide(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    if matches!(expr, Expr::ScalarFunction(call) if checked(call).is_some()) {
        return Some(expr.clone());
    }
    match expr.get_type(schema).ok()? {
        DataType::Int64 => Some(expr.clone()),
        whole if whole.is_integer() => Some(cast(expr.clone(), DataType::Int64)),
        _ => None,
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        "checked"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::Int64)
    }

    /// A column without a name is called after what gives it.
    fn schema_name(&self, numbers: &[Expr]) -> Result<String, DataFusionError> {
        let mut numbers = numbers.iter();
        let mut name = numbers.next().map_or_else(String::new, |it| it.schema_name().to_string());
        for (operator, number) in self.operators.iter().zip(numbers) {
            let _ = write!(name, " {operator} {}", number.schema_name());
        }
        Ok(name)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let mut numbers = args.args.into_iter();
        let Some(first) = numbers.next() else { return plan_err!("there is no number") };
        self.operators.iter().zip(numbers).try_fold(first, |left, (operator, right)| {
            let kernel = match operator {
                BinaryOperator::Plus => add,
                BinaryOperator::Minus => sub,
                BinaryOperator::Multiply => mul,
                BinaryOperator::Divide => div,
                _ => rem,
            };
            apply(&left, &right, kernel)
        })
    }
}
