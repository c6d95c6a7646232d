//! The keys of tenants, and the sealed values of our tables.
//!
//! A writer passes its values through [`sealer`]. A reader runs its statement with [`read_json`], or passes the text of a result to
//! [`unsealed`]. Reports use [`shown`]. A call that reads and writes much begins with [`hold`], so that the keys are looked up once.

mod held;
mod keyring;
mod master;
mod reseal;
mod table;

pub use keyring::{
    Of, Reader, exists, hold, in_use, read_json, sealer, shown, unsealed, unsealed_as,
};
pub use reseal::seal_rows;
pub use table::{change_master_key, destroy, hold_off, rotate};
