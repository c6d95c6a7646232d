//! Pages: their header, the meta page, the free list, the store that holds them, and the allocation of new ones.

pub mod free_list;
pub mod memory;
pub mod meta;
pub mod page;
pub mod page_allocator;
pub mod store;
