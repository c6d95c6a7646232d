-- What people say of citations: labels of reviewers, reports of users.

CREATE TABLE reground.citation_labels (
    citation_id bigint NOT NULL REFERENCES reground.message_citations ON DELETE CASCADE,
    labelled_by text NOT NULL CHECK (labelled_by <> ''),
    labelled_role text NOT NULL,
    tenant      text NOT NULL,
    label       text NOT NULL CHECK (label IN ('accurate', 'partial', 'hallucinated', 'unverifiable')),
    note        text,
    labelled_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (citation_id, labelled_by)
);
COMMENT ON TABLE reground.citation_labels IS 'Labels of reviewers, one row per citation and reviewer.';
COMMENT ON COLUMN reground.citation_labels.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_labels.labelled_by IS 'Name of the reviewer, as given by the role that wrote the label.';
COMMENT ON COLUMN reground.citation_labels.labelled_role IS 'Role that wrote the label.';
COMMENT ON COLUMN reground.citation_labels.tenant IS 'Tenant of the citation.';
COMMENT ON COLUMN reground.citation_labels.label IS 'accurate, partial, hallucinated or unverifiable (I9).';
COMMENT ON COLUMN reground.citation_labels.note IS 'Explanation by the reviewer.';
COMMENT ON COLUMN reground.citation_labels.labelled_at IS 'When the label was last changed.';

CREATE TABLE reground.citation_reports (
    report_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    citation_id bigint NOT NULL REFERENCES reground.message_citations ON DELETE CASCADE,
    tenant      text NOT NULL,
    reported_by text NOT NULL,
    reported_role text NOT NULL,
    reason      text NOT NULL CHECK (reason <> ''),
    created_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE INDEX citation_reports_citation ON reground.citation_reports (citation_id);
COMMENT ON TABLE reground.citation_reports IS 'Citations reported by users.';
COMMENT ON COLUMN reground.citation_reports.report_id IS 'Key.';
COMMENT ON COLUMN reground.citation_reports.citation_id IS 'Id of the citation.';
COMMENT ON COLUMN reground.citation_reports.tenant IS 'Tenant of the citation.';
COMMENT ON COLUMN reground.citation_reports.reported_by IS 'Name of the user, as given by the role that wrote the report.';
COMMENT ON COLUMN reground.citation_reports.reported_role IS 'Role that wrote the report.';
COMMENT ON COLUMN reground.citation_reports.reason IS 'Problem described by the user.';
COMMENT ON COLUMN reground.citation_reports.created_at IS 'When the row was created.';
