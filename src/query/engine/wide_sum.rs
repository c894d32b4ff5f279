//! Sums of whole numbers that do not overflow. The engine's own wrap round in silence at 64 bits,
//! which two absurd timestamps reach; these have 38 digits, as in DuckDB.

use std::sync::Arc;

use arrow_schema::{DataType, FieldRef};
use datafusion::common::{DataFusionError, plan_err};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};

/// Digits of the largest whole number in 64 bits.
const DIGITS: u8 = 20;

/// `sum` with another type for whole numbers.
#[derive(Debug, PartialEq, Eq, Hash)]
struct WideSum {
    signature: Signature,
    sum: Sum,
}

/// The function.
pub(super) fn wide_sum() -> AggregateUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    AggregateUDF::new_from_shared_impl(Arc::new(WideSum { signature, sum: Sum::new() }))
}

impl AggregateUDFImpl for WideSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>, DataFusionError> {
        let [given] = given else { return plan_err!("sum takes one argument") };
        match given {
            whole if whole.is_integer() => Ok(vec![DataType::Decimal128(DIGITS, 0)]),
            float if float.is_floating() => Ok(vec![DataType::Float64]),
            DataType::Null => Ok(vec![DataType::Decimal128(DIGITS, 0)]),
            number if number.is_numeric() => Ok(vec![number.clone()]),
            other => plan_err!("sum takes numbers, not {other}"),
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType, DataFusionError> {
        self.sum.return_type(given)
    }

    fn accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>, DataFusionError> {
        self.sum.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>, DataFusionError> {
        self.sum.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.sum.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>, DataFusionError> {
        self.sum.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>, DataFusionError> {
        self.sum.create_sliding_accumulator(args)
    }
}
