//! The rows that a statement changed, as a statement-level trigger sees them.

use pgrx::pg_sys;
use pgrx::spi::Spi;

use super::statement::{Access, Row, Statement};
use crate::error::{Error, Result};

/// The statement that fired a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Insert,
    Update,
    Delete,
    Truncate,
}

/// A call of a trigger after a statement.
pub struct Changes {
    data: *mut pg_sys::TriggerData,
    /// The table that has the trigger.
    pub table: pg_sys::Oid,
    pub event: Event,
    /// The arguments of the trigger.
    pub arguments: Vec<String>,
}

impl Changes {
    /// The call of a trigger function; `None` if the function was not called by a statement-level AFTER trigger.
    ///
    /// # Safety
    /// `call` is the argument that PostgreSQL passed to the function. The result must not outlive the call.
    pub unsafe fn of(call: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: `call` is valid by contract. A context of the type T_TriggerData is a TriggerData, whose trigger has tgnargs arguments.
        unsafe {
            if !pgrx::trigger_support::called_as_trigger(call) {
                return None;
            }
            let data = (*call).context.cast::<pg_sys::TriggerData>();
            let when = (*data).tg_event;
            let is_after = when & pg_sys::TRIGGER_EVENT_TIMINGMASK == pg_sys::TRIGGER_EVENT_AFTER;
            if !is_after || when & pg_sys::TRIGGER_EVENT_ROW != 0 {
                return None;
            }
            let event = match when & pg_sys::TRIGGER_EVENT_OPMASK {
                pg_sys::TRIGGER_EVENT_INSERT => Event::Insert,
                pg_sys::TRIGGER_EVENT_UPDATE => Event::Update,
                pg_sys::TRIGGER_EVENT_DELETE => Event::Delete,
                _ => Event::Truncate,
            };
            let trigger = (*data).tg_trigger;
            let count = usize::try_from((*trigger).tgnargs).unwrap_or_default();
            let arguments = (0..count).map(|index| {
                let argument = std::ffi::CStr::from_ptr(*(*trigger).tgargs.add(index));
                argument.to_string_lossy().into_owned()
            });
            Some(Self {
                data,
                table: (*(*data).tg_relation).rd_id,
                event,
                arguments: arguments.collect(),
            })
        }
    }

    /// Passes each row of a query over the transition tables to `read`. The statement is not kept, because the columns of these tables
    /// are those of the table with the trigger.
    pub fn read_each<T>(&self, query: &str, read: impl Fn(&Row) -> Result<T>) -> Result<Vec<T>> {
        Spi::connect(|_| {
            // SAFETY: the data is that of the present call of the trigger, and the connection ends before the call does.
            let status = unsafe { pg_sys::SPI_register_trigger_data(self.data) };
            if status < 0 {
                return Err(Error::Spi(format!("SPI_register_trigger_data: {status}")));
            }
            let statement = Statement::prepare(query, Vec::new())?;
            let rows = statement.execute(Access::Write, 0, &[])?;
            rows.iter().map(|row| read(&row)).collect()
        })
    }
}
