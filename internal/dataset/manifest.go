package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/outfile"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// manifests is the folder of the manifests.
const manifests = "manifests"

// Shard is one of several parts of a point, from 0. The zero value is the whole point.
type Shard struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

// Count is how many shards there are.
func (s Shard) Count() int { return max(s.Of, 1) }

// String is the part of names of files that says which shard they are of.
func (s Shard) String() string { return fmt.Sprintf("%dof%d", s.Index, s.Count()) }

// Manifest says what a run wrote about a point. It is written last.
type Manifest struct {
	// Schema is the version of the tables and of the manifest, Version that of the program.
	Schema  string `json:"schema"`
	Version string `json:"version"`
	Point   string `json:"point"`
	Shard   Shard  `json:"shard"`
	// Command wrote it, with Options that were not as by default.
	Command string            `json:"command"`
	Options map[string]string `json:"options,omitempty"`
	// Catalogue is the hash of the rules, see [CatalogueHash].
	Catalogue string  `json:"catalogue"`
	Inputs    []Input `json:"inputs"`
	// Finished is when the tables were written.
	Finished time.Time `json:"finished"`
	// ExitCode is that of the run for this point: 0, 1 with findings (check), 3 if an input could not be read
	// to its end; Errors say what went wrong.
	ExitCode int      `json:"exit_code"`
	Errors   []string `json:"errors,omitempty"`
	Counters Counters `json:"counters"`
	// Findings counts findings that are neither known nor suppressed, by severity, and Verdicts has the
	// worst verdict of each rule that applies; both only if rules were asked.
	Findings map[string]int64 `json:"findings,omitempty"`
	Verdicts *Verdicts        `json:"verdicts,omitempty"`
	// Unlisted counts those of Findings that are in no table, to bound memory.
	Unlisted map[string]int64 `json:"unlisted,omitempty"`
	Files    []File           `json:"files"`
}

// Input is a file that was read.
type Input struct {
	Name string `json:"name"`
	// Size and Head, the hash of the first HeadSize octets, tell whether it is the same file;
	// what is no file has none.
	Size     int64  `json:"size,omitempty"`
	Head     string `json:"head_sha256,omitempty"`
	HeadSize int64  `json:"head_size,omitempty"`
}

// File is a file of a table.
type File struct {
	Table  Table  `json:"table"`
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Counters are those of a capture.
type Counters struct {
	Frames      uint64 `json:"frames"`
	Octets      uint64 `json:"octets"`
	Captured    uint64 `json:"captured"`
	Cut         uint64 `json:"cut"`
	TCP         uint64 `json:"tcp"`
	SCTP        uint64 `json:"sctp"`
	Other       uint64 `json:"other"`
	Malformed   uint64 `json:"malformed"`
	Truncated   uint64 `json:"truncated"`
	Duplicates  uint64 `json:"duplicates"`
	Connections uint64 `json:"connections"`
	IWARP       uint64 `json:"iwarp_connections"`
	Dropped     uint64 `json:"connections_dropped"`
	PDUs        uint64 `json:"pdus"`
	// FirstTime and LastTime are those of the frames, in nanoseconds since the Unix epoch.
	FirstTime int64 `json:"first_time_ns"`
	LastTime  int64 `json:"last_time_ns"`
}

// Count are the counters of a run.
func Count(t *pipeline.Totals) Counters {
	return Counters{
		Frames: t.Frames, Octets: t.Octets, Captured: t.Captured, Cut: t.Cut, TCP: t.TCP, SCTP: t.SCTP, Other: t.Other,
		Malformed: t.Malformed, Truncated: t.Truncated, Duplicates: t.Duplicates, Connections: t.Connections, IWARP: t.IWARP,
		Dropped: t.RecordsDropped, PDUs: t.PDUs, FirstTime: t.FirstTime, LastTime: t.LastTime,
	}
}

// Totals are the counters as those of a run.
func (c *Counters) Totals() pipeline.Totals {
	return pipeline.Totals{
		Frames: c.Frames, Octets: c.Octets, Captured: c.Captured, Cut: c.Cut, TCP: c.TCP, SCTP: c.SCTP, Other: c.Other,
		Malformed: c.Malformed, Truncated: c.Truncated, Duplicates: c.Duplicates, Connections: c.Connections, IWARP: c.IWARP,
		RecordsDropped: c.Dropped, PDUs: c.PDUs, FirstTime: c.FirstTime, LastTime: c.LastTime,
	}
}

// Verdicts are rules by the worst verdict on them; NotJudged has the rules by the evidence that
// is missing.
type Verdicts struct {
	Asked     int                 `json:"asked"`
	Passed    []string            `json:"passed,omitempty"`
	Failed    []string            `json:"failed,omitempty"`
	NotJudged map[string][]string `json:"not_judged,omitempty"`
}

// NewVerdicts are those of a tally, of so many rules that were asked.
func NewVerdicts(t *conformance.Tally, asked int) *Verdicts {
	v := &Verdicts{Asked: asked}
	for _, j := range t.Judgements() {
		switch j.Verdict {
		case conformance.Pass:
			v.Passed = append(v.Passed, j.Rule.ID)
		case conformance.Fail:
			v.Failed = append(v.Failed, j.Rule.ID)
		case conformance.NotJudged:
			if v.NotJudged == nil {
				v.NotJudged = map[string][]string{}
			}
			v.NotJudged[j.Gate.String()] = append(v.NotJudged[j.Gate.String()], j.Rule.ID)
		case conformance.NotApplicable:
		}
	}
	return v
}

// headSize is how much of an input is hashed.
const headSize = 64 << 10

// Inputs describes files that are to be read. What cannot be described has its name alone.
func Inputs(names []string) []Input {
	all := make([]Input, 0, len(names))
	for _, name := range names {
		in := Input{Name: text(name)}
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			in.Size = info.Size()
			in.Head, in.HeadSize = head(name)
		}
		all = append(all, in)
	}
	return all
}

func head(name string) (sum string, size int64) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0
	}
	defer f.Close() //nolint:errcheck // only read from
	h := sha256.New()
	if size, err = io.CopyN(h, f, headSize); err != nil && size == 0 {
		return "", 0
	}
	return hex.EncodeToString(h.Sum(nil)), size
}

// CatalogueHash is the hash of what the rules say and weigh: findings of programs with the same
// one can be compared.
var CatalogueHash = sync.OnceValue(func() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, entry := range conformance.Catalogue().Entries {
		_ = e.Encode(entry) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
})

// write writes the manifest of tables that are written.
func (m *Manifest) write(folder *outfile.Folder) error {
	named := *m
	named.Finished = time.Time{}
	content, err := json.Marshal(&named)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(content)
	if content, err = json.MarshalIndent(m, "", " "); err != nil {
		return err
	}
	p, err := folder.Begin()
	if err != nil {
		return err
	}
	if _, err := p.Write(append(content, '\n')); err != nil {
		_ = p.Discard() // the first error is the one to report
		return err
	}
	return p.CommitAs(m.Command + "-" + m.Shard.String() + "-" + hex.EncodeToString(digest[:])[:nameDigits] + ".json")
}
