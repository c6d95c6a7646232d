-- The objects of the extension as text, with all properties that a script sets.

SET search_path = pg_catalog;

-- Privileges as text in one order. An object without any has the default ones, and a script can also set these.
CREATE FUNCTION pg_temp.acl(acl aclitem[], kind "char", owner oid) RETURNS text LANGUAGE sql
    RETURN (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C") FROM unnest(coalesce(acl, acldefault(kind, owner))) AS a);

CREATE TEMP VIEW members AS SELECT classid, objid FROM pg_depend
    WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'reground') AND deptype = 'e';

SELECT 'member', i.type, i.identity FROM members, pg_identify_object(classid, objid, 0) AS i ORDER BY 2, 3;
SELECT 'comment', i.type, i.identity, d.objsubid, d.description FROM pg_description AS d, pg_identify_object(d.classoid, d.objoid, d.objsubid) AS i
WHERE i.schema = 'reground' OR i.identity LIKE '% reground.%' OR (d.classoid, d.objoid) IN (SELECT classid, objid FROM members) ORDER BY 2, 3, 4;

SELECT 'schema', nspname, pg_temp.acl(nspacl, 'n', nspowner) FROM pg_namespace WHERE nspname = 'reground';
SELECT 'function', proowner::regrole, pg_get_functiondef(oid), pg_temp.acl(proacl, 'f', proowner) FROM pg_proc
WHERE pronamespace = 'reground'::regnamespace AND prokind <> 'a' ORDER BY oid::regprocedure::text COLLATE "C";
SELECT 'aggregate', a.aggfnoid::regprocedure, to_jsonb(a) - 'aggfnoid', pg_temp.acl(p.proacl, 'f', p.proowner) FROM pg_aggregate AS a JOIN pg_proc AS p ON p.oid = a.aggfnoid
WHERE p.pronamespace = 'reground'::regnamespace ORDER BY a.aggfnoid::regprocedure::text;
SELECT 'relation', relname, relowner::regrole, relkind, relpersistence, relrowsecurity, relforcerowsecurity, relreplident, relispartition, (SELECT inhparent::regclass FROM pg_inherits WHERE inhrelid = pg_class.oid), (SELECT amname FROM pg_am WHERE pg_am.oid = relam), reloftype::regtype, pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid), reloptions,
       reltablespace, pg_temp.acl(relacl, CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)
FROM pg_class WHERE relnamespace = 'reground'::regnamespace AND relkind <> 't' ORDER BY relname COLLATE "C";
SELECT 'column', c.relname, row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attstorage,
       a.attcompression, a.attcollation::regcollation, a.attoptions, coalesce(a.attstattarget, -1), pg_get_expr(d.adbin, d.adrelid),
       CASE WHEN a.attacl IS NOT NULL THEN pg_temp.acl(a.attacl, 'c', c.relowner) END
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'reground'::regnamespace AND c.relkind <> 't' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname COLLATE "C", a.attnum;
SELECT 'constraint', conrelid::regclass, conname, contype, convalidated, condeferrable, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'reground'::regnamespace ORDER BY conrelid::regclass::text, conname;
SELECT 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisclustered, i.indisreplident FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE c.relnamespace = 'reground'::regnamespace ORDER BY 2;
SELECT 'view', viewname, definition FROM pg_views WHERE schemaname = 'reground' ORDER BY viewname COLLATE "C";
SELECT 'trigger', pg_get_triggerdef(oid), tgenabled FROM pg_trigger WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'reground'::regnamespace) ORDER BY 2;
SELECT 'policy', schemaname, tablename, policyname, permissive, (SELECT array_agg(r ORDER BY r) FROM unnest(roles) AS r), cmd, qual, with_check FROM pg_policies WHERE schemaname = 'reground' ORDER BY 3, 4;
SELECT 'sequence', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle FROM pg_sequence
WHERE seqrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'reground'::regnamespace) ORDER BY seqrelid::regclass::text;
SELECT 'type', typname, typlen, typbyval, typtype, typcategory, typispreferred, typdelim, typalign, typstorage, typinput, typoutput, typreceive, typsend, typmodin, typmodout, typanalyze, typnotnull, typbasetype::regtype, typdefault, (SELECT array_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = pg_type.oid),
       pg_temp.acl(typacl, 'T', typowner) FROM pg_type WHERE typnamespace = 'reground'::regnamespace ORDER BY typname COLLATE "C";
SELECT 'operator', oid::regoperator, oprcode, oprcom::regoperator, oprnegate::regoperator, oprrest, oprjoin, oprcanmerge, oprcanhash FROM pg_operator WHERE oid IN (SELECT objid FROM members WHERE classid = 'pg_operator'::regclass) ORDER BY oid::regoperator::text;
SELECT 'access method', amname, amhandler, amtype FROM pg_am WHERE amname = 'reground_bm25';
SELECT 'operator class', c.opcname, f.opfname, c.opcintype::regtype, c.opcdefault, c.opckeytype::regtype FROM pg_opclass AS c JOIN pg_opfamily AS f ON f.oid = c.opcfamily
WHERE c.opcnamespace = 'reground'::regnamespace ORDER BY c.opcname, f.opfname, c.opcintype::regtype::text;
SELECT 'operator of a family', f.opfname, a.amopstrategy, a.amoppurpose, a.amopopr::regoperator, a.amopsortfamily FROM pg_amop AS a JOIN pg_opfamily AS f ON f.oid = a.amopfamily
WHERE f.opfnamespace = 'reground'::regnamespace ORDER BY f.opfname, a.amopstrategy, a.amopopr::regoperator::text;
SELECT 'function of a family', f.opfname, a.amproclefttype::regtype, a.amprocrighttype::regtype, a.amprocnum, a.amproc FROM pg_amproc AS a JOIN pg_opfamily AS f ON f.oid = a.amprocfamily
WHERE f.opfnamespace = 'reground'::regnamespace ORDER BY f.opfname, a.amproclefttype::regtype::text, a.amprocrighttype::regtype::text, a.amprocnum;
SELECT 'cast', castsource::regtype, casttarget::regtype, castfunc::regprocedure, castcontext, castmethod FROM pg_cast
WHERE 'reground'::regnamespace IN ((SELECT typnamespace FROM pg_type WHERE oid = castsource), (SELECT typnamespace FROM pg_type WHERE oid = casttarget)) ORDER BY castsource::regtype::text, casttarget::regtype::text;
SELECT 'text search', c.cfgname, p.prsname, m.maptokentype, m.mapseqno, m.mapdict::regdictionary FROM pg_ts_config AS c JOIN pg_ts_parser AS p ON p.oid = c.cfgparser LEFT JOIN pg_ts_config_map AS m ON m.mapcfg = c.oid
WHERE c.cfgnamespace = 'reground'::regnamespace ORDER BY 2, 4, 5;
SELECT 'dictionary', dictname, dicttemplate, dictinitoption FROM pg_ts_dict WHERE dictnamespace = 'reground'::regnamespace ORDER BY 2;
-- Not those of turns, on which users have a grant.
SELECT 'initial privileges', p.objoid::regclass, p.objsubid, p.initprivs::text FROM pg_init_privs AS p JOIN pg_class AS c ON c.oid = p.objoid
WHERE p.classoid = 'pg_class'::regclass AND c.relnamespace = 'reground'::regnamespace AND c.relname <> 'turns' ORDER BY c.relname COLLATE "C", p.objsubid;
SELECT 'parameter', parname, pg_temp.acl(paracl, 'p', 10) FROM pg_parameter_acl ORDER BY parname;
SELECT 'role', r.rolname, r.rolcanlogin, r.rolinherit, r.rolcreaterole, r.rolbypassrls, (SELECT array_agg(m.rolname ORDER BY m.rolname) FROM pg_auth_members AS a JOIN pg_roles AS m ON m.oid = a.roleid WHERE a.member = r.oid)
FROM pg_roles AS r WHERE r.rolname LIKE 'reground\_%' ORDER BY 2;
SELECT 'dumped', c.oid::regclass, e.extcondition[c.place] FROM pg_extension AS e, unnest(e.extconfig) WITH ORDINALITY AS c(oid, place) WHERE e.extname = 'reground' ORDER BY c.oid::regclass::text COLLATE "C";
SELECT 'extension', extversion, extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'reground';
-- Rows that the scripts insert.
SELECT 'row', 'citation_statuses', to_jsonb(r) FROM reground.citation_statuses AS r ORDER BY 3;
SELECT 'row', 'support_cues', to_jsonb(r) FROM reground.support_cues AS r WHERE built_in ORDER BY 3;
SELECT 'row', 'alert_rules', to_jsonb(r) FROM reground.alert_rules AS r WHERE built_in ORDER BY 3;
SELECT 'row', 'maintenance_tasks', to_jsonb(r) FROM reground.maintenance_tasks AS r WHERE built_in ORDER BY 3;
