//! The identity of the running statement, under which its queries are kept.

/// Identifies a statement by transaction, snapshot and user. Later fetches from a cursor have the same identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementIdentity {
    began: i64,
    user: u32,
    xmin: u32,
    xmax: u32,
    command: u32,
}

impl StatementIdentity {
    /// The statement that is running.
    pub fn current() -> Self {
        // SAFETY: the functions read the state of this session and raise no error; the active snapshot is asked for only if there is one.
        // Without one, all its values are 0; there is no other statement then.
        unsafe {
            let began = infallible::GetCurrentTransactionStartTimestamp();
            let user = infallible::GetUserId().to_u32();
            let snapshot = match infallible::ActiveSnapshotSet() {
                true => infallible::GetActiveSnapshot().as_ref(),
                false => None,
            };
            Self {
                began,
                user,
                xmin: snapshot.map_or(0, |snapshot| snapshot.xmin.into_inner()),
                xmax: snapshot.map_or(0, |snapshot| snapshot.xmax.into_inner()),
                command: snapshot.map_or(0, |snapshot| snapshot.curcid),
            }
        }
    }
}

/// Functions of PostgreSQL that raise no error. The bindings of pgrx set a jump point for the errors of each call, which an operator that
/// is called for each row would pay four times. Their declarations are those of PostgreSQL 15 to 18.
mod infallible {
    use pgrx::pg_sys;

    unsafe extern "C" {
        pub fn GetCurrentTransactionStartTimestamp() -> pg_sys::TimestampTz;
        pub fn GetUserId() -> pg_sys::Oid;
        pub fn ActiveSnapshotSet() -> bool;
        pub fn GetActiveSnapshot() -> pg_sys::Snapshot;
    }
}
