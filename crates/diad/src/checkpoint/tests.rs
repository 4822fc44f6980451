//! A fit that stops at any step and goes on ends with the bytes of one that never stopped.

use super::*;
use crate::fit::fit_encoded;
use crate::rng::{Purpose, Stream};
use crate::tests::{encoded, normal, small};
use crate::{Detector, persist};

fn data(rows: usize) -> (Encoder, Matrix) {
    let mut random = Stream::new(3, Purpose::Shuffle, 9);
    encoded(&normal(&mut random, ["a", "b", "c", "d"], rows), crate::Scale::Both)
}

/// Annealing ends, and with it the choice of features, after 12 of 24 steps.
fn params() -> Params {
    Params { depth: 3, attention: 3, steps: 24, warmup: 8, anneal: 12, batch: 64, seed: 7, ..small() }
}

fn uninterrupted(params: &Params, (encoder, matrix): &(Encoder, Matrix)) -> Vec<u8> {
    let detector = crate::fit::fit(params, encoder.clone(), matrix).unwrap();
    persist::to_bytes(&detector).unwrap()
}

/// Runs a fit to its end.
fn go_on(checkpoints: &mut Checkpoints, params: &Params, data: &(Encoder, Matrix)) -> Result<Detector> {
    fit_encoded(
        params,
        data.0.clone(),
        (data.1.clone(), data.1.rows() as u64),
        Some(checkpoints),
        &mut |_| ControlFlow::Continue(()),
    )
}

/// Runs a fit up to a step, if it gets that far; gives its bytes if it ended.
fn run(folder: &Path, params: &Params, data: &(Encoder, Matrix), last: usize) -> Option<Vec<u8>> {
    let mut checkpoints = Checkpoints::new(folder).unwrap();
    let observe = &mut |progress: Progress| match progress.step >= last {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    match fit_encoded(
        params,
        data.0.clone(),
        (data.1.clone(), data.1.rows() as u64),
        Some(&mut checkpoints),
        observe,
    ) {
        Ok(detector) => Some(persist::to_bytes(&detector).unwrap()),
        Err(Error::Stopped) => None,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_fit_stopped_anywhere_ends_with_the_same_model() {
    // 150 rows and batches of 64: a pass ends every second step.
    for params in
        [params(), Params { interactions: 1, ..params() }, Params { layers: 1, anneal: 0, ..params() }]
    {
        let data = data(150);
        let whole = uninterrupted(&params, &data);
        for last in 1..=params.steps {
            let folder = tempfile::tempdir().unwrap();
            assert!(run(folder.path(), &params, &data, last).is_none());
            let went_on = run(folder.path(), &params, &data, usize::MAX);
            assert!(went_on.as_ref() == Some(&whole), "stopped after step {last}");
        }
    }
}

#[test]
fn a_fit_stopped_at_every_step_ends_with_the_same_model() {
    let (params, data) = (params(), data(40));
    let folder = tempfile::tempdir().unwrap();
    for step in 1..=params.steps {
        assert!(run(folder.path(), &params, &data, step).is_none());
    }
    assert!(run(folder.path(), &params, &data, usize::MAX) == Some(uninterrupted(&params, &data)));
}

/// What a kill leaves behind is the last checkpoint that was written, and perhaps a part of the next one.
#[test]
fn any_earlier_checkpoint_will_do() {
    let (params, data) = (params(), data(150));
    let whole = uninterrupted(&params, &data);
    let folder = tempfile::tempdir().unwrap();
    let mut kept = Vec::new();
    let mut checkpoints = Checkpoints::new(folder.path()).unwrap().every(Duration::ZERO);
    let path = checkpoints.path();
    let observe = &mut |_| {
        kept.extend(fs::read(&path).ok());
        ControlFlow::Continue(())
    };
    let detector = fit_encoded(
        &params,
        data.0.clone(),
        (data.1.clone(), data.1.rows() as u64),
        Some(&mut checkpoints),
        observe,
    )
    .unwrap();
    assert!(persist::to_bytes(&detector).unwrap() == whole);
    checkpoints.finish();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(kept.len(), params.steps - 1);

    for (step, bytes) in (1..).zip(kept) {
        fs::write(&path, bytes).unwrap();
        fs::write(path.with_file_name(PART), b"half of").unwrap();
        let mut checkpoints = Checkpoints::new(folder.path()).unwrap();
        let detector = go_on(&mut checkpoints, &params, &data).unwrap();
        assert_eq!(checkpoints.resumed(), Some(step));
        assert!(persist::to_bytes(&detector).unwrap() == whole, "from step {step}");
    }
}

#[test]
fn a_checkpoint_of_another_fit_is_refused() {
    let (params, data) = (params(), data(150));
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &params, &data, 5).is_none());
    let refused = |params: &Params, data: &(Encoder, Matrix)| match go_on(
        &mut Checkpoints::new(folder.path()).unwrap(),
        params,
        data,
    ) {
        Err(Error::Checkpoint { fault, .. }) => Some(fault),
        _ => None,
    };
    assert_eq!(refused(&Params { seed: 8, ..params.clone() }, &data), Some(CheckpointFault::OtherFit));
    assert_eq!(refused(&Params { trees: 7, ..params.clone() }, &data), Some(CheckpointFault::OtherFit));
    let mut other = data.clone();
    other.1.values[77] += 0.25;
    assert_eq!(refused(&params, &other), Some(CheckpointFault::OtherFit));
    // Nothing was lost by the refusals.
    assert_eq!(refused(&params, &data), None);
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let (params, data) = (params(), data(40));
    let folder = tempfile::tempdir().unwrap();
    assert!(run(folder.path(), &params, &data, 5).is_none());
    let fit = digest(&params, &data.0, &data.1);
    let path = folder.path().join(NAME);
    let whole = fs::read(&path).unwrap();
    assert!(from_bytes(&whole, fit).is_ok());
    for length in (0..whole.len()).step_by(7) {
        assert_eq!(from_bytes(&whole[..length], fit).unwrap_err(), CheckpointFault::Damaged);
    }
    for place in (0..whole.len()).step_by(11) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        assert_eq!(from_bytes(&bytes, fit).unwrap_err(), CheckpointFault::Damaged);
    }
    // A right checksum does not make a right checkpoint.
    let made_up = |change: &dyn Fn(&mut Snapshot)| {
        let mut snapshot = from_bytes(&whole, fit).unwrap();
        change(&mut snapshot);
        fs::write(&path, to_bytes(&snapshot, fit)).unwrap();
        let fitted = go_on(&mut Checkpoints::new(folder.path()).unwrap(), &params, &data);
        matches!(fitted, Err(Error::Checkpoint { fault: CheckpointFault::Damaged, .. }))
    };
    assert!(made_up(&|snapshot| snapshot.words.truncate(10)));
    assert!(made_up(&|snapshot| snapshot.words.push(0)));
    assert!(made_up(&|snapshot| snapshot.hardened = true));
    assert!(made_up(&|snapshot| snapshot.step = u64::MAX));
    assert!(made_up(&|snapshot| snapshot.step = params.steps as u64));
    assert!(made_up(&|snapshot| snapshot.words[3] = f32::NAN.to_bits()));
    assert!(!made_up(&|_| ()));
}

#[test]
fn one_folder_serves_one_fit_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = Checkpoints::new(folder.path()).unwrap();
    let second = Checkpoints::new(folder.path()).unwrap_err();
    assert!(matches!(second, Error::Checkpoint { fault: CheckpointFault::InUse, .. }), "{second}");
    drop(first);
    Checkpoints::new(folder.path()).unwrap();
    let taken = folder.path().join(LOCK);
    assert!(matches!(Checkpoints::new(&taken), Err(Error::Table(crate::table::Error::File { .. }))));
}
