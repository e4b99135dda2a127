package schematest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Output validates what the program has printed or written: JSON documents, records one a line,
// SARIF and JUnit, by what they say they are. What is for people is not looked at, and neither is
// the end of what was cut off while it was printed.
func Output(text []byte) error {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return nil
	case bytes.HasPrefix(trimmed, []byte("<?xml")):
		return document(trimmed)
	case trimmed[0] == '[':
		if trimmed[len(trimmed)-1] != ']' {
			return nil
		}
		return records(trimmed)
	case trimmed[0] == '{':
		return values(trimmed)
	}
	return nil
}

// document validates XML: PDML and PSML have to be well-formed, all else is JUnit.
func document(text []byte) error {
	if !bytes.Contains(text[:min(len(text), 120)], []byte("<pdml ")) && !bytes.Contains(text[:min(len(text), 120)], []byte("<psml ")) {
		return JUnit(text)
	}
	dec := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// values validates JSON values one behind the other.
func values(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	for {
		var v json.RawMessage
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return nil //nolint:nilerr // no JSON at all, or cut off
		}
		if err := value(v); err != nil {
			return err
		}
	}
}

// value validates one JSON value by what it says it is.
func value(v []byte) error {
	var head struct {
		Record     string          `json:"record"`
		Schema     string          `json:"schema"`
		SARIF      string          `json:"$schema"`
		Captures   json.RawMessage `json:"captures"`
		Rules      json.RawMessage `json:"rules"`
		Fields     json.RawMessage `json:"fields"`
		Interfaces json.RawMessage `json:"interfaces"`
		Findings   json.RawMessage `json:"findings"`
		// The forms of tshark.
		Source json.RawMessage `json:"_source"`
		Index  json.RawMessage `json:"index"`
		Layers json.RawMessage `json:"layers"`
		// What explain found.
		Rule, Term, Error, Diagnosis, Evidence json.RawMessage
	}
	if err := json.Unmarshal(v, &head); err != nil {
		return fmt.Errorf("%w in %.200s", err, v)
	}
	switch {
	case strings.HasPrefix(head.Schema, "iwdissect-merge/"):
		return As("merge", v)
	case strings.HasPrefix(head.Schema, "iwdissect-tables/"):
		return As("manifest", v)
	case head.Source != nil:
		return As("packet", v)
	case head.Index != nil || head.Layers != nil:
		return As("ek", v)
	case head.Record != "":
		return As(head.Record, v)
	case head.SARIF != "":
		return As("sarif", v)
	case head.Captures != nil:
		return As(documentOf(head.Captures), v)
	case head.Rules != nil:
		return As("rules", v)
	case head.Interfaces != nil:
		return As("interfaces", v)
	case head.Rule != nil || head.Term != nil || head.Error != nil || head.Diagnosis != nil || head.Evidence != nil:
		return As("explain", v)
	case head.Findings != nil:
		return As("baseline", v)
	case head.Fields != nil:
		return As("fields", v)
	}
	return fmt.Errorf("no schema describes %.200s", v)
}

// records validates a list of records.
func records(text []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("%w in %.200s", err, text)
	}
	for _, v := range all {
		if err := value(v); err != nil {
			return err
		}
	}
	return nil
}

// documentOf names the schema of a document with captures: of statistics alone there is no
// summary.
func documentOf(captures []byte) string {
	var all []struct{ Statistics, Summary json.RawMessage }
	if err := json.Unmarshal(captures, &all); err == nil && len(all) > 0 && all[0].Statistics != nil && all[0].Summary == nil {
		return "statistics"
	}
	return "analysis"
}
