-- A source with a word in each value that is sealed.
-- Words: zqaddressx zqcontentx zqlocatorx zqmetadatax zqtitlex
SELECT reground.create_corpus('secrets', settings => '{"provenance": "merkle", "facts_per_source": 1}');
SELECT reground.put_document('secrets', 'd1', title => 'The zqtitlex report', uri => 'https://zqaddressx.example/report',
    passages => '[{"content": "Cows in the zqcontentx barn give milk.", "page_start": 3, "metadata": {"locator": "zqlocatorx 4", "kind": "zqmetadatax"}}]');
