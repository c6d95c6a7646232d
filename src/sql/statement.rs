//! One prepared statement, run through SPI.

use std::ffi::{CString, c_int, c_long, c_void};
use std::ptr::NonNull;

use pgrx::datum::{DatumWithOid, TryFromDatumError};
use pgrx::{FromDatum, IntoDatum, PgList, pg_sys};

use super::caller;
use super::catalog::version;
use super::distributed::{FOR_SHARDS, can_distribute, is_distributed};
use super::names::{self, ParameterTypes};
use crate::error::{Error, Result};
use crate::session::with_settings;

/// Arguments of a statement.
pub type Args<'a> = [DatumWithOid<'a>];

/// A statement that is prepared for the rest of the session. Its names are resolved in `pg_catalog` (see [`names`]).
pub struct Statement {
    plan: NonNull<pg_sys::_SPI_plan>,
    /// The plan points to these.
    types: Box<ParameterTypes>,
    /// Whether the parameters of the caller follow the arguments.
    takes_caller: bool,
    /// Whether it reads or writes a table that is distributed.
    reads_shards: bool,
}

/// Whether a statement may write, and sees what this command has written so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Sees the snapshot of the caller's statement, unless this transaction has written.
    Read,
    /// May write, and sees everything that this transaction has written.
    Write,
}

impl Access {
    fn is_read_only(self) -> bool {
        // SAFETY: a plain call into the backend.
        self == Self::Read
            && unsafe { pg_sys::GetTopTransactionIdIfAny() } == pg_sys::InvalidTransactionId
    }
}

impl Statement {
    /// Parses and analyses a statement whose parameters have these types. Call it within an SPI connection.
    pub fn prepare(text: &str, types: Vec<pg_sys::Oid>) -> Result<Self> {
        version::check()?;
        let types = Box::new(types);
        let takes_caller = caller::takes_parameters(text);
        let options = if caller::is_planned_each_time(text) {
            pg_sys::CURSOR_OPT_CUSTOM_PLAN as c_int
        } else if text.contains(caller::PLAN_ONCE) {
            pg_sys::CURSOR_OPT_GENERIC_PLAN as c_int
        } else {
            0
        };
        let text =
            CString::new(text).map_err(|_| Error::Spi("a statement contains a NUL".into()))?;
        // SAFETY: the text is NUL-terminated and copied. The hook gets the types that it expects, which live as long as the plan:
        // the plan is freed in Drop, before them. SPI_keepplan takes a plan that is not kept yet.
        unsafe {
            let argument: *const ParameterTypes = &*types;
            let hook: pg_sys::ParserSetupHook = Some(names::begin_analysis);
            let plan = pg_sys::SPI_prepare_params(
                text.as_ptr(),
                hook,
                argument.cast_mut().cast::<c_void>(),
                options,
            );
            let plan = NonNull::new(plan).ok_or_else(|| spi_error(pg_sys::SPI_result))?;
            pg_sys::SPI_keepplan(plan.as_ptr());
            // Dropped, and freed, if the catalog cannot be read.
            let mut statement = Self {
                plan,
                types,
                takes_caller,
                reads_shards: false,
            };
            statement.reads_shards = statement.find_shards()?;
            Ok(statement)
        }
    }

    /// Whether the statement was prepared for parameters of these types.
    pub fn takes(&self, types: &[pg_sys::Oid]) -> bool {
        *self.types == types
    }

    /// Whether a relation of the rewritten statement, also one of a view or a policy, is distributed.
    fn find_shards(&self) -> Result<bool> {
        if !can_distribute() {
            return Ok(false);
        }
        // SAFETY: the plan is kept. SPI returns the list of its statements, each with the oids of its relations.
        let relations: Vec<pg_sys::Oid> = unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(self.plan.as_ptr());
            let sources = PgList::<pg_sys::CachedPlanSource>::from_pg(sources);
            let of_each = sources
                .iter_ptr()
                .map(|source| PgList::<c_void>::from_pg((*source).relationOids));
            of_each
                .flat_map(|oids| (0..oids.len()).filter_map(move |at| oids.get_oid(at)))
                .collect()
        };
        for relation in relations {
            if is_distributed(relation)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the settings of another statement too. EXPLAIN knows only the relations that its query names.
    pub fn with_settings_of(mut self, other: &Self) -> Self {
        self.reads_shards |= other.reads_shards;
        self
    }

    /// Runs `work` under the settings that the statement needs.
    fn with_settings<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.reads_shards {
            true => with_settings(&FOR_SHARDS, work),
            false => work(),
        }
    }

    /// Whether nothing that the statement reads has changed since its last analysis.
    pub fn is_valid(&self) -> bool {
        // SAFETY: the plan is kept.
        unsafe { pg_sys::SPI_plan_is_valid(self.plan.as_ptr()) }
    }

    /// Runs the statement and returns its rows, `limit` at most (0: all). Call it within an SPI connection, which the rows must not
    /// outlive.
    pub fn execute(&self, access: Access, limit: c_long, args: &Args<'_>) -> Result<Rows> {
        // SAFETY: the plan is kept and has as many parameters as `parameters` checks. SPI_tuptable is the result of this
        // statement, or NULL where it returns no rows.
        unsafe {
            let parameters = self.parameters(args)?;
            pg_sys::SPI_tuptable = std::ptr::null_mut();
            let status = self.with_settings(|| {
                pg_sys::SPI_execute_plan_with_paramlist(
                    self.plan.as_ptr(),
                    parameters,
                    access.is_read_only(),
                    limit,
                )
            });
            if status < 0 {
                return Err(spi_error(status));
            }
            Ok(Rows::last())
        }
    }

    /// Opens a cursor over the rows of a query. Call it within an SPI connection.
    pub fn open(&self, args: &Args<'_>) -> Result<Cursor<'_>> {
        // SAFETY: as in `execute`. SPI raises an error where no cursor can be opened.
        let portal = unsafe {
            let parameters = self.parameters(args)?;
            self.with_settings(|| {
                pg_sys::SPI_cursor_open_with_paramlist(
                    std::ptr::null(),
                    self.plan.as_ptr(),
                    parameters,
                    Access::Read.is_read_only(),
                )
            })
        };
        Ok(Cursor {
            portal,
            statement: self,
        })
    }

    /// The arguments as PostgreSQL's executor takes them.
    ///
    /// # Safety
    /// The list is allocated in the current memory context.
    unsafe fn parameters(&self, args: &Args<'_>) -> Result<pg_sys::ParamListInfo> {
        // A kept statement may be of a time before an update.
        version::check()?;
        if args.len() != self.types.len() {
            return Err(Error::Spi(
                "a statement was called with a wrong number of arguments".into(),
            ));
        }
        let of_caller = match self.takes_caller {
            true => Some(caller::values()?),
            false => None,
        };
        let all: Vec<&DatumWithOid<'_>> = args.iter().chain(of_caller.iter().flatten()).collect();
        // Executors of extensions expect NULL for no parameters, as SPI passes it.
        if all.is_empty() {
            return Ok(std::ptr::null_mut());
        }
        // SAFETY: makeParamList allocates `params` with as many elements as asked for; each is written below. The values of the caller
        // are allocated in the current memory context.
        unsafe {
            let list = pg_sys::makeParamList(c_int::try_from(all.len()).unwrap_or(c_int::MAX));
            let elements = (*list).params.as_mut_ptr();
            for (index, arg) in all.into_iter().enumerate() {
                let datum = arg.datum();
                elements.add(index).write(pg_sys::ParamExternData {
                    isnull: datum.is_none(),
                    value: datum
                        .map_or(pg_sys::Datum::from(0_usize), |datum| datum.sans_lifetime()),
                    pflags: pg_sys::PARAM_FLAG_CONST as u16,
                    ptype: arg.oid(),
                });
            }
            Ok(list)
        }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: the plan was kept in `prepare` and is freed once.
        unsafe { pg_sys::SPI_freeplan(self.plan.as_ptr()) };
    }
}

/// Rows that a statement returned.
pub struct Rows {
    table: *mut pg_sys::SPITupleTable,
    count: usize,
}

impl Rows {
    /// The rows of the SPI call just made.
    fn last() -> Self {
        // SAFETY: plain reads of what SPI sets.
        let (table, processed) = unsafe { (pg_sys::SPI_tuptable, pg_sys::SPI_processed) };
        Self {
            table,
            count: usize::try_from(processed).unwrap_or(usize::MAX),
        }
    }

    /// Rows returned; for a statement that returns none, rows written.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Row> + '_ {
        let returned = match self.table.is_null() {
            true => 0,
            false => self.count,
        };
        (0..returned).map(|index| {
            // SAFETY: a table that is not NULL has `count` tuples of the type `tupdesc`.
            unsafe {
                Row {
                    tuple: *(*self.table).vals.add(index),
                    columns: (*self.table).tupdesc,
                }
            }
        })
    }
}

/// One row of a result, valid while the SPI connection is open.
pub struct Row {
    tuple: pg_sys::HeapTuple,
    columns: pg_sys::TupleDesc,
}

impl Row {
    /// The tuple itself, for code that copies whole rows.
    pub fn tuple(&self) -> pg_sys::HeapTuple {
        self.tuple
    }

    /// The row as a JSON object.
    pub fn json(&self) -> Result<String> {
        // SAFETY: tuple and columns belong together, and both live as long as the connection. row_to_json takes a composite value, whose type
        // BlessTupleDesc registers.
        let json: Option<String> = unsafe {
            let columns = pg_sys::BlessTupleDesc(self.columns);
            let row = pg_sys::heap_copy_tuple_as_datum(self.tuple, columns);
            pgrx::direct_function_call(pg_sys::row_to_json, &[Some(row)])
        };
        json.ok_or_else(|| Error::Spi("a row without JSON".into()))
    }

    /// The value of a column, counted from 1; `None` for NULL. `T` owns its data.
    pub fn get<T: FromDatum + IntoDatum + 'static>(&self, column: i32) -> Result<Option<T>> {
        // SAFETY: tuple and columns belong together, and both live as long as the connection. SPI_getbinval sets SPI_result where
        // there is no such column, which is checked. try_from_datum checks the type.
        unsafe {
            let mut is_null = false;
            let datum = pg_sys::SPI_getbinval(self.tuple, self.columns, column, &mut is_null);
            if pg_sys::SPI_result < 0 {
                return Err(spi_error(pg_sys::SPI_result));
            }
            let kind = pg_sys::SPI_gettypeid(self.columns, column);
            T::try_from_datum(datum, is_null, kind)
                .map_err(|fault: TryFromDatumError| Error::Spi(fault.to_string()))
        }
    }
}

/// A cursor over the rows of a query. Closed with the SPI connection's transaction, or when it is dropped.
pub struct Cursor<'a> {
    portal: pg_sys::Portal,
    statement: &'a Statement,
}

impl Cursor<'_> {
    /// Passes the next rows to `read`, `limit` at most, and frees them; false when there were none.
    pub fn fetch(&mut self, limit: c_long, read: impl FnOnce(&Rows) -> Result<()>) -> Result<bool> {
        // SAFETY: the portal is open until Drop.
        let rows = unsafe {
            pg_sys::SPI_tuptable = std::ptr::null_mut();
            self.statement
                .with_settings(|| pg_sys::SPI_cursor_fetch(self.portal, true, limit));
            Rows::last()
        };
        if rows.count() == 0 {
            return Ok(false);
        }
        read(&rows)?;
        // SAFETY: `read` cannot keep a row: rows are lent to it only for the call. Without this every batch would stay in memory until the
        // connection ends.
        unsafe { pg_sys::SPI_freetuptable(rows.table) };
        Ok(true)
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        // An unwinding error aborts the (sub)transaction, which closes the portal.
        if !std::thread::panicking() {
            // SAFETY: the portal was opened by `Statement::open` and is closed once.
            unsafe { pg_sys::SPI_cursor_close(self.portal) };
        }
    }
}

fn spi_error(code: c_int) -> Error {
    // SAFETY: returns a static string for every code.
    let name = unsafe { std::ffi::CStr::from_ptr(pg_sys::SPI_result_code_string(code)) };
    Error::Spi(name.to_string_lossy().into_owned())
}
