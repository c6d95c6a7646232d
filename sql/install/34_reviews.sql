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
COMMENT ON TABLE  reground.citation_labels IS 'What reviewers say of citations, a row a reviewer: what verdicts are holding against.';
COMMENT ON COLUMN reground.citation_labels.citation_id IS 'The citation.';
COMMENT ON COLUMN reground.citation_labels.labelled_by IS 'The reviewer, as the role that wrote it says.';
COMMENT ON COLUMN reground.citation_labels.labelled_as IS 'The role that wrote it.';
COMMENT ON COLUMN reground.citation_labels.tenant IS 'Whose citation it is.';
COMMENT ON COLUMN reground.citation_labels.label IS 'accurate, partial, hallucinated or unverifiable (I9).';
COMMENT ON COLUMN reground.citation_labels.note IS 'Why, in the reviewer''s words.';
COMMENT ON COLUMN reground.citation_labels.labelled_at IS 'When it was last said.';

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
COMMENT ON TABLE  reground.citation_reports IS 'Citations that users complained of.';
COMMENT ON COLUMN reground.citation_reports.report_id IS 'Key.';
COMMENT ON COLUMN reground.citation_reports.citation_id IS 'The citation.';
COMMENT ON COLUMN reground.citation_reports.tenant IS 'Whose citation it is.';
COMMENT ON COLUMN reground.citation_reports.reported_by IS 'The user, as the role that wrote it says.';
COMMENT ON COLUMN reground.citation_reports.reported_as IS 'The role that wrote it.';
COMMENT ON COLUMN reground.citation_reports.reason IS 'What is wrong, in the user''s words.';
COMMENT ON COLUMN reground.citation_reports.created_at IS 'When.';
