package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// entry is an entry of requirements.yaml or advisories.yaml.
type entry struct {
	ID         string   `yaml:"id"`
	Spec       string   `yaml:"spec"`
	Section    string   `yaml:"section"`
	Level      string   `yaml:"level"`
	Layer      string   `yaml:"layer"`
	Who        string   `yaml:"who"`
	Statement  string   `yaml:"statement"`
	Title      string   `yaml:"title"`
	Check      string   `yaml:"check"`
	Example    string   `yaml:"example_violation"`
	Observable string   `yaml:"observable"`
	Why        string   `yaml:"observable_why"`
	Kind       string   `yaml:"kind"`
	Severity   string   `yaml:"severity"`
	Wireshark  string   `yaml:"wireshark"`
	ReportedAs []string `yaml:"reported_as"`
	Message    string   `yaml:"message"`
	Source     string   `yaml:"source"`
	Failure    string   `yaml:"failure"`
	Explains   []string `yaml:"explains"`

	matters string
	advice  bool
}

// book is all that the files hold.
type book struct {
	entries []entry
	gates   yaml.MapSlice
}

func readBook(dir string) (*book, error) {
	var r struct {
		Gates        yaml.MapSlice `yaml:"gates"`
		Requirements []entry       `yaml:"requirements"`
	}
	var a struct {
		Advisories []entry `yaml:"advisories"`
	}
	var why struct {
		Reasons map[string]string `yaml:"reasons"`
	}
	for name, to := range map[string]any{"requirements.yaml": &r, "advisories.yaml": &a, "reasons.yaml": &why} {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(src, to); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	b := &book{gates: r.Gates}
	used := map[string]bool{}
	for i := range r.Requirements {
		e := &r.Requirements[i]
		key := reason(why.Reasons, e.ID)
		used[key] = true
		e.matters = why.Reasons[key]
		if e.matters == "" {
			return nil, fmt.Errorf("%s: reasons.yaml does not say why it matters: add the id, or a prefix of it", e.ID)
		}
		b.entries = append(b.entries, *e)
	}
	for key := range why.Reasons {
		if !used[key] {
			return nil, fmt.Errorf("reasons.yaml: %s is used by no entry", key)
		}
	}
	for i := range a.Advisories {
		e := a.Advisories[i]
		// What the files leave out of advice, because it is the same for all.
		e.Spec, e.Severity, e.Level, e.Layer, e.Kind, e.advice = "interop advice", e.Level, "ADVICE", "interop", "check", true
		e.Statement = e.Title
		b.entries = append(b.entries, e)
	}
	return b, b.valid()
}

// reason returns the key of the reason for an entry: its id, or the longest prefix of it
// up to a dash.
func reason(reasons map[string]string, id string) string {
	for {
		if _, ok := reasons[id]; ok {
			return id
		}
		dash := strings.LastIndexByte(id, '-')
		if dash < 0 {
			return ""
		}
		id = id[:dash]
	}
}

func (b *book) valid() error {
	seen := map[string]bool{}
	var errs []error
	for i := range b.entries {
		e := &b.entries[i]
		if e.ID == "" || seen[e.ID] {
			errs = append(errs, fmt.Errorf("%q: twice, or without an id", e.ID))
		}
		seen[e.ID] = true
		if _, ok := kinds[e.Kind]; !ok {
			errs = append(errs, fmt.Errorf("%s: kind %q", e.ID, e.Kind))
		}
		if _, ok := severities[e.Severity]; !ok {
			errs = append(errs, fmt.Errorf("%s: severity %q", e.ID, e.Severity))
		}
	}
	return errors.Join(errs...)
}
