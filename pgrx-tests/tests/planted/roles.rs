//! The roles that the test calls as.

use anyhow::Result;
use postgres::Client;
use reground_tests::server::Database;

/// Rights of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Member of reground_user.
    User,
    /// Member of reground_admin, reground_user, reground_auditor and reground_worker.
    Admin,
    /// A superuser.
    Superuser,
}

impl Kind {
    /// Prefix of the names of its tables.
    pub fn letter(self) -> char {
        match self {
            Self::User => 'u',
            Self::Admin => 'a',
            Self::Superuser => 's',
        }
    }
}

/// One role of each kind, until the end of the test.
pub struct Roles<'a> {
    database: &'a Database,
    names: [String; 3],
}

impl<'a> Roles<'a> {
    /// Creates the roles.
    pub fn create(database: &'a Database) -> Result<Self> {
        let name = |kind: &str| format!("{}_{kind}", database.name());
        let names = [name("user"), name("admin"), name("superuser")];
        let [user, admin, superuser] = &names;
        database.connect()?.batch_execute(&format!(
            "CREATE ROLE {user} LOGIN IN ROLE reground_user;
             CREATE ROLE {admin} LOGIN IN ROLE reground_admin, reground_user, reground_auditor, reground_worker;
             CREATE ROLE {superuser} LOGIN SUPERUSER"
        ))?;
        Ok(Self { database, names })
    }

    /// The name of the role of a kind.
    pub fn name(&self, kind: Kind) -> &str {
        let [user, admin, superuser] = &self.names;
        match kind {
            Kind::User => user,
            Kind::Admin => admin,
            Kind::Superuser => superuser,
        }
    }

    /// Grants the roles the rights to all tables that exist now.
    pub fn grant(&self, owner: &mut Client) -> Result<()> {
        let [user, admin, _] = &self.names;
        owner.batch_execute(&format!(
            "GRANT USAGE, CREATE ON SCHEMA public, store TO {admin};
             GRANT USAGE ON SCHEMA public, store TO {user};
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, store TO {user}, {admin}"
        ))?;
        Ok(())
    }
}

impl Drop for Roles<'_> {
    fn drop(&mut self) {
        if let Ok(mut owner) = self.database.connect() {
            for name in &self.names {
                // The database goes next; a role that stays behind has a name that no other run uses.
                let _ = owner.batch_execute(&format!("DROP OWNED BY {name} CASCADE"));
                let _ = owner.batch_execute(&format!("DROP ROLE {name}"));
            }
        }
    }
}
