//! The shapes that pictures draw.

use dwindle::distributions::{Atom, Histogram, Sample};
use dwindle::units::Nanos;

fn shape(values: &[i64], from: i64, to: i64, bins: usize) -> Histogram {
    let mut sample = Sample::default();
    values.iter().for_each(|&value| sample.push(Nanos::from_nanos(value)));
    let nanos = Nanos::from_nanos;
    Histogram::new(&sample.sorted(), nanos(from), nanos(to), bins)
}

#[test]
fn bins_have_round_edges_and_hold_every_value_once() {
    let values = [-7, -1, 0, 0, 3, 19, 20, 39];
    let shape = shape(&values, -7, 39, 5);
    assert_eq!((shape.from.as_nanos(), shape.width.as_nanos()), (-10, 10));
    assert_eq!(shape.bins, [2, 3, 1, 1, 1]);
    assert_eq!(shape.bins.iter().sum::<u64>(), values.len() as u64);
}

#[test]
fn a_timeout_that_many_share_is_an_atom_and_in_no_bin() {
    let mut values: Vec<i64> = (0..95).collect();
    values.extend([200; 5]);
    let shape = shape(&values, 0, 200, 10);
    assert_eq!(shape.atoms, [Atom { value: Nanos::from_nanos(200), count: 5 }]);
    assert_eq!(shape.bins.iter().sum::<u64>(), 95);
}

#[test]
fn nothing_and_all_the_same_have_a_shape_too() {
    assert_eq!(shape(&[], 0, 0, 10).largest(), 0);
    assert_eq!(shape(&[5], 5, 5, 10).bins, [1]);
}

#[test]
fn values_as_far_apart_as_can_be_have_a_shape() {
    let (least, most) = (i64::MIN + 1, i64::MAX);
    assert!(shape(&[least, most], least, most, 2).largest() <= 2);
}
