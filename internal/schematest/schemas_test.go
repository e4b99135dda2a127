package schematest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/internal/schematest"
)

var update = flag.Bool("update", false, "write the schema of the fields of PDUs")

// TestFields: the schema of the fields of PDUs follows the descriptions of the headers.
func TestFields(t *testing.T) {
	want, err := schematest.FieldsSchema()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(schematest.Folder(), "pdu-fields.schema.json")
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is out of date (%v): go generate ./internal/schematest", file, err)
	}
}

// TestStrict: each object of each schema says what members it has and takes no others, and each
// member is described.
func TestStrict(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(schematest.Folder(), "*.json"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d schemas, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := filepath.Base(file)
		top, _ := doc.(map[string]any)
		if top["$schema"] != "https://json-schema.org/draft/2020-12/schema" || top["title"] == nil || top["description"] == nil || !strings.HasSuffix(top["$id"].(string), "/"+name) {
			t.Errorf("%s: no draft, title, description, or another $id", name)
		}
		strict(t, name, doc)
	}
}

func strict(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" {
			if _, closed := v["additionalProperties"]; !closed {
				t.Errorf("%s takes any member", at)
			}
			props, _ := v["properties"].(map[string]any)
			for name, p := range props {
				if p, _ := p.(map[string]any); p["description"] == nil {
					t.Errorf("%s: %s is not described", at, name)
				}
			}
			required, _ := v["required"].([]any)
			for _, r := range required {
				if name, _ := r.(string); props[name] == nil {
					t.Errorf("%s requires %s, which it has not", at, name)
				}
			}
		}
		for k, x := range v {
			strict(t, at+"/"+k, x)
		}
	case []any:
		for _, x := range v {
			strict(t, at, x)
		}
	}
}

// good are outputs that the schemas take, by the schema.
var good = map[string]string{
	"frame":       `{"record":"frame","frame":1,"time":"2026-11-20T21:54:52.726981000Z","len":60,"caplen":60,"conn":0,"dir":"i2r","src":"10.1.0.1:58189","dst":"[fd00::2]:7200","transport":"tcp","pdus":[3],"carries":[{"offset":40,"length":1448,"part":"whole"}],"notes":[],"info":"TCP"}`,
	"pdu":         `{"record":"pdu","pdu":2,"conn":0,"kind":"fpdu","dir":"i2r","frame":8,"frames":[8],"offset":0,"length":40,"info":"Send","fields":{"iwarp_mpa.crc":"0x20d7cde4","iwarp_ddp.mo":0}}`,
	"transaction": `{"record":"transaction","conn":0,"frame":6,"kind":"startup","request_pdu":0,"response_pdus":[1],"bytes":0,"latency_first_ns":69690000,"latency_ns":69690000}`,
	"finding":     `{"record":"finding","rule":"RDMAP-TERM-RSVD-01","level":"error","conn":0,"frame":12,"spec":"RFC 5040","message":"m","evidence":{"observed":"0x0300"}}`,
	"incomplete":  `{"record":"incomplete","reason":"file ends 78 octets into a record of 1530","file":"a.pcap"}`,
	"verdict":     `{"record":"verdict","conn":0,"rule":"MPA-FPDU-PAD-01","verdict":"not-judged","gate":"G-FULL"}`,
	"diagnosis":   `{"kind":"terminate","severity":"error","dir":"i2r","conns":[0],"frames":[12],"pdus":[3],"text":"t","advice":"a"}`,
	"baseline":    `{"schema":"iwdissect-baseline/1","findings":[{"file":"a.pcap","finding":"MPA-CRC-VALUE-01 tcp a"}]}`,
}

// TestRefused: a member that is misspelt or missing, or a value of another type, is refused.
func TestRefused(t *testing.T) {
	for name, text := range good {
		if err := schematest.As(name, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		try := func(what string, change func(map[string]any)) {
			var c map[string]any
			_ = json.Unmarshal([]byte(text), &c)
			change(c)
			b, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			if schematest.As(name, b) == nil {
				t.Errorf("%s with %s is taken: %s", name, what, b)
			}
		}
		try("a member more", func(c map[string]any) { c["mor"] = 1 })
		for k := range doc {
			try(k+" of another type", func(c map[string]any) { c[k] = map[string]any{"x": 1} })
		}
	}
	for _, text := range []string{
		strings.Replace(good["pdu"], "iwarp_ddp.mo", "iwarp_ddp.m0", 1),
		strings.Replace(good["pdu"], "0x20d7cde4", "20d7cde4", 1),
		strings.Replace(good["pdu"], `"kind":"fpdu"`, `"kind":"fpud"`, 1),
		strings.Replace(good["verdict"], `,"gate":"G-FULL"`, "", 1),
		strings.Replace(good["finding"], `"observed"`, `"observd"`, 1),
		`{"record":"frames"}`, `{"x":1}`,
		`<?xml version="1.0"?><testsuites name="a" tests="1" failures="0" errors="0" skipped="0"></testsuites>`,
		`<?xml version="1.0"?><testsuites name="a" tests="0" failures="0" errors="0" skipped="0" more="1"></testsuites>`,
	} {
		if schematest.Output([]byte(text)) == nil {
			t.Errorf("taken: %s", text)
		}
	}
}

// TestNames: each schema is listed in the README of the folder.
func TestNames(t *testing.T) {
	names, err := schematest.Names()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(schematest.Folder(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range names {
		if n != "sarif" && !bytes.Contains(readme, []byte("("+n+".schema.json)")) {
			t.Errorf("README.md does not list %s", n)
		}
	}
}
