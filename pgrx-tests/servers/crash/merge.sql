SELECT reground.bm25_merge('docs_body');
