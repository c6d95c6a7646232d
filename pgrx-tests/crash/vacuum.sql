VACUUM docs;
