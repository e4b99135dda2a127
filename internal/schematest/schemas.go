package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// root is the folder of the project.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Folder is that of the schemas.
func Folder() string { return filepath.Join(root(), "docs", "schema") }

// suffix is how the files of schemas end.
const suffix = ".schema.json"

// compiled are the schemas by name; sarif is the one that OASIS has published.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := filepath.Glob(filepath.Join(Folder(), "*"+suffix))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	ids := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		var head struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, err
		}
		if err := c.AddResource(head.ID, doc); err != nil {
			return nil, err
		}
		name := filepath.Base(file)
		ids[name[:len(name)-len(suffix)]] = head.ID
	}
	out := map[string]*jsonschema.Schema{}
	for name, id := range ids {
		if out[name], err = c.Compile(id); err != nil {
			return nil, err
		}
	}
	out["sarif"], err = c.Compile(filepath.Join(root(), "internal", "cli", "testdata", "sarif-schema-2.1.0.json"))
	return out, err
})

// Names are the schemas that there are.
func Names() ([]string, error) {
	all, err := compiled()
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	return names, err
}

// As validates a JSON value by the schema of a name.
func As(name string, text []byte) error {
	all, err := compiled()
	if err != nil {
		return err
	}
	schema := all[name]
	if schema == nil {
		return fmt.Errorf("there is no schema %q", name)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w in %.200s", err, text)
	}
	if err := schema.Validate(doc); err != nil {
		return fmt.Errorf("%s: %w in %.400s", name, err, text)
	}
	return nil
}
