-- Measures of one's own evaluations: rankings against judgements, answers against references.

CREATE FUNCTION reground.retrieval_metrics(ranking text[], judgements jsonb, k integer DEFAULT 10)
    RETURNS TABLE (ndcg double precision, recall double precision, "precision" double precision, reciprocal_rank double precision, average_precision double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'retrieval_metrics_wrapper';
COMMENT ON FUNCTION reground.retrieval_metrics(text[], jsonb, integer) IS
'One query''s ranking, best first, against judgements {"id": gain}, as trec_eval defines the measures (H5): ndcg, recall and precision at k, reciprocal rank and average precision of the whole ranking. What is not judged, and gains of 0 and below, are not relevant; an id that comes twice counts at its first place. NULL where no judged id is relevant (precision: never), so that avg() over queries leaves them out. 22023 for judgements that are no object of numbers, and a k below 1.';

CREATE FUNCTION reground.text_metrics(answer text, reference text)
    RETURNS TABLE (exact_match boolean, token_f1 double precision, rouge_l_precision double precision, rouge_l_recall double precision, rouge_l double precision)
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'text_metrics_wrapper';
COMMENT ON FUNCTION reground.text_metrics(text, text) IS
'An answer against a reference answer (H5): exact match and token F1 as SQuAD 2.0 has them (lower case, without punctuation and English articles), ROUGE-L with its precision, recall and F1 over words in lower case (Lin 2004). ROUGE-L is NULL where the reference has no words. Where several references are accepted, take the maximum.';
