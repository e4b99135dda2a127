package schematest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
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

// address is where the schemas are published, by their $id.
const address = "https://raw.githubusercontent.com/iwdissect/iwdissect/main/docs/schema/"

// inFolder loads the schemas of the project.
type inFolder struct{}

// Load implements [jsonschema.URLLoader].
func (inFolder) Load(url string) (any, error) {
	name, ok := strings.CutPrefix(url, address)
	if !ok {
		return nil, fmt.Errorf("%s is no schema of the project", url)
	}
	return jsonschema.FileLoader{}.Load("file://" + filepath.Join(Folder(), name))
}

// schemas are those that were asked for: to compile all of them would take a process that validates one
// document longer than that.
var schemas struct {
	sync.Mutex
	*jsonschema.Compiler // it remembers what it has compiled
}

// schemaOf compiles a schema; sarif is the one that OASIS has published.
func schemaOf(name string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.Compiler == nil {
		schemas.Compiler = jsonschema.NewCompiler()
		schemas.AssertFormat()
		schemas.UseLoader(jsonschema.SchemeURLLoader{"https": inFolder{}, "file": jsonschema.FileLoader{}})
	}
	if name == sarif {
		return schemas.Compile(filepath.Join(root(), "internal", "cli", "testdata", "sarif-schema-2.1.0.json"))
	}
	return schemas.Compile(address + name + suffix)
}

const sarif = "sarif"

// Names are the schemas that there are.
func Names() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(Folder(), "*"+suffix))
	names := append(make([]string, 0, 1+len(files)), sarif)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), suffix))
	}
	return names, err
}

// As validates a JSON value by the schema of a name.
func As(name string, text []byte) error {
	schema, err := schemaOf(name)
	if err != nil {
		return err
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
