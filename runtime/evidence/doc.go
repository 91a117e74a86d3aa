// Package evidence makes, keeps and moves Evidence records.
//
// # Record
//
// A record is the canonical JSON ([RFC 8785]) of one successful observation: an
// object with exactly these sixteen members. Semantic members take part in the
// identity of the record; the others say where and by whom an equal finding
// happened to be made.
//
//	member             semantic  holds
//	schema_version     yes       integer, 2
//	evidence_id        no        the identity itself
//	operation          yes       name of the tool
//	predicate_type     yes       what kind of statement the result is
//	normalized_result  yes       result of the operation, any JSON value
//	confidence         yes       observed, derived or inferred
//	authority          yes       shipped-artifact, controlled-replay, historical-reference,
//	                             external-service or analyst-inference
//	subject            partly    the bytes the finding is about, or null
//	  .digest.sha256   yes       their SHA-256, lowercase hex
//	  .format          yes       string or null
//	  .architecture    yes       string or null
//	  .name            no        file name
//	  .local_path      no        where the file was read, or null
//	provider           yes       {id, name, version} of what produced the result
//	analysis_profile   yes       exact engine configuration, or null when no engine took part
//	parameters         yes       input of the operation without local paths
//	limitations        yes       strings: what the result does not cover
//	locations          yes       where in the subject the finding lies
//	evidence_links     yes       ids of the records it was derived from
//	environment        no        {os, architecture, rea_version} of the machine, or null
//	raw_result         yes       upstream representation where one differs, else null
//
// A record without analysis_profile is refused: null and a profile are two
// different statements.
//
// # Identity
//
// The semantic form of a record is the record without evidence_id and
// environment, and with subject (when it is an object) reduced to architecture,
// digest and format. evidence_id is "ev_" followed by the lowercase hexadecimal
// SHA-256 of the canonical JSON of the semantic form. No clock, path or host
// takes part, so equal findings have equal ids everywhere.
//
// testdata/vector.json holds a record as it may arrive, its canonical bytes, its
// semantic bytes and its id, for other implementations to check themselves.
//
// # Accepted JSON
//
// Input is stricter than JSON: no duplicate names, valid UTF-8, no lone
// surrogates, nesting of at most [MaxDepth], and every number must survive the
// double precision that RFC 8785 prescribes. A number beyond the range of a
// double is refused, and so is an integer that would be rounded: 64-bit values
// are written as hexadecimal strings.
//
// # Bundle
//
// A bundle is one canonical JSON document that carries records from one
// connection to another:
//
//	bundle_version           integer, 1
//	manifest.records         number of records
//	manifest.ids_sha256      SHA-256 of the sorted ids, each followed by a line feed
//	manifest.records_sha256  SHA-256 of the lowercase hex SHA-256 of each complete
//	                         canonical record, in the same order, each followed by
//	                         a line feed; it covers the members that identities do not
//	records                  the records, sorted by id, no id twice
//
// # Ledger
//
// A [Ledger] keeps the records of one connection. Small ones stay in memory; as
// they grow, bytes move to a file that has no name, so that nothing is left
// behind however the process ends.
//
// [RFC 8785]: https://www.rfc-editor.org/rfc/rfc8785
package evidence
