package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		return JUnit(trimmed)
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
		// What explain found.
		Rule, Term, Error, Diagnosis json.RawMessage
	}
	if err := json.Unmarshal(v, &head); err != nil {
		return fmt.Errorf("%w in %.200s", err, v)
	}
	switch {
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
	case head.Rule != nil || head.Term != nil || head.Error != nil || head.Diagnosis != nil:
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
