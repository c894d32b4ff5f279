-- Trouble in the input, what was lost first.
--
-- inputs: problems
-- columns:
--   severity: loss where spans or evidence were lost, else info
--   code: what kind of trouble
--   count: how often in this file
--   file: the file
--   byte: where the first example begins, in bytes from 0 of the file as decompressed
--   line: its line, from 1
--   record: its record, from 0
--   message: what is wrong
--   help: what to do about it
SELECT severity, code, count, file, byte, line, record, message, help
FROM problems
ORDER BY
  severity DESC NULLS LAST,
  count DESC NULLS LAST,
  code ASC NULLS FIRST,
  file ASC NULLS FIRST,
  byte ASC NULLS FIRST,
  message ASC NULLS FIRST
