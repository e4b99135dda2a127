package schematest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// element is an element of a JUnit report, as the readers of it agree: Jenkins, GitLab and GitHub
// actions. There is no published schema that all of them follow.
type element struct {
	in         string
	attributes []string // that it must have
	optional   []string
}

var junitElements = map[string]element{
	"testsuites": {"", []string{"name", "tests", "failures", "errors", "skipped"}, nil},
	"testsuite":  {"testsuites", []string{"name", "tests", "failures", "errors", "skipped"}, nil},
	"testcase":   {"testsuite", []string{"classname", "name"}, nil},
	"failure":    {"testcase", []string{"message", "type"}, nil},
	"error":      {"testcase", []string{"message"}, []string{"type"}},
	"skipped":    {"testcase", []string{"message"}, nil},
	"system-out": {"testcase", nil, nil},
}

// counted are the attributes that count elements.
var counted = map[string]string{"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}

// JUnit validates a JUnit report: its elements, their places and attributes, and its counts.
func JUnit(text []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(text))
	type open struct {
		name  string
		attrs map[string]string
		seen  map[string]int
	}
	var stack []open
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			parent := ""
			if n := len(stack); n > 0 {
				parent = stack[n-1].name
			}
			name := t.Name.Local
			attrs, err := attributes(&t, parent)
			if err != nil {
				return err
			}
			for i := range stack {
				stack[i].seen[name]++
			}
			stack = append(stack, open{name, attrs, map[string]int{}})
		case xml.EndElement:
			e := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for attr, what := range counted {
				if v, ok := e.attrs[attr]; ok && v != strconv.Itoa(e.seen[what]) {
					return fmt.Errorf("%s says %s=%q and has %d", e.name, attr, v, e.seen[what])
				}
			}
		default:
		}
	}
}

// attributes are those of an element that may stand in another one.
func attributes(t *xml.StartElement, parent string) (map[string]string, error) {
	name := t.Name.Local
	rule, ok := junitElements[name]
	if !ok || rule.in != parent {
		return nil, fmt.Errorf("JUnit has no %s in %q", name, parent)
	}
	attrs := map[string]string{}
	for _, a := range t.Attr {
		if !slices.Contains(rule.attributes, a.Name.Local) && !slices.Contains(rule.optional, a.Name.Local) {
			return nil, fmt.Errorf("%s has no attribute %s", name, a.Name.Local)
		}
		attrs[a.Name.Local] = a.Value
	}
	for _, a := range rule.attributes {
		if _, ok := attrs[a]; !ok {
			return nil, fmt.Errorf("%s lacks its attribute %s", name, a)
		}
	}
	return attrs, nil
}
