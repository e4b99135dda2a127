package scenario

import (
	"fmt"
	"math"
	"slices"

	rulebook "github.com/iwdissect/iwdissect/conformance/catalogue"
	"github.com/iwdissect/iwdissect/internal/strictyaml"
	"github.com/iwdissect/iwdissect/internal/synth"
)

// Scenario is a scenario that was read and found right.
type Scenario struct {
	// Name is that of a built-in one, or of the file.
	Name string
	// Summary is its line in lists, About what else there is to say.
	Summary, About string
	// Rules are the ids of the rules that the faults break.
	Rules []string
	// Shows are records of its dissection that the clean trace does not have,
	// Misses those that only the clean one has: what the faults do.
	Shows, Misses []Evidence
	// Source is the YAML, File its name for errors.
	Source []byte
	File   string

	root   *node
	seed   *uint64
	faulty bool
	part   *Part
}

// Parse reads a scenario; name is for its errors. The error joins an [*Error]
// for each thing that is wrong.
func Parse(name string, src []byte) (*Scenario, error) {
	r := newReport(name)
	root := r.Parse(src)
	if root == nil {
		return nil, r.Err()
	}
	s := &Scenario{Name: name, File: name, Source: slices.Clone(src), root: root}
	c := newCompiler(r, false)
	c.scenario(s)
	if err := r.Err(); err != nil {
		return nil, err
	}
	s.faulty = c.faulty
	if s.faulty { // its clean trace has other steps
		c = newCompiler(r, true)
		c.scenario(s.again())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Script returns the script, fresh each time: with the faults, or clean, as if
// there were none.
func (s *Scenario) Script(clean bool) *synth.Script {
	c := newCompiler(newReport(s.Name), clean)
	return c.scenario(s.again())
}

// again is the scenario as it is read once more.
func (s *Scenario) again() *Scenario {
	return &Scenario{Name: s.Name, root: s.root, seed: s.seed, faulty: s.faulty, part: s.part}
}

// At is an error at a place of the scenario, for what is found only when it is played.
func (s *Scenario) At(line, column int, err error) error {
	r := newReport(s.File)
	r.Lines(s.Source)
	r.Fail(pos{Line: line, Column: column}, "%v", err)
	return r.Err()
}

// HasFaults reports whether the clean script is another one.
func (s *Scenario) HasFaults() bool { return s.faulty }

// WithSeed returns the scenario with another seed.
func (s *Scenario) WithSeed(seed uint64) *Scenario {
	other := *s
	other.seed = &seed
	return &other
}

// compiler makes a script of a scenario.
type compiler struct {
	*strictyaml.Report
	// clean leaves out the faults; faulty: there are some.
	clean, faulty bool

	script    *synth.Script
	seed      uint64
	mtu       int
	hosts     [2]settings
	initiator synth.Side
	// sctpEverywhere: connections are on SCTP; streams are the next ones by
	// association.
	sctpEverywhere bool
	streams        map[string]uint16
	singles        []single
	// of is the connection that what is being read is of, if it is of one.
	of *connection

	conns      []*connection
	connNumber map[string]int

	verbs    map[string]*verb
	timeline timeline
	// late are times by which packets are late, untagged what only frames with a header of Ethernet have.
	late     []lateness
	untagged []*node
	// unfit cannot be done on a socket.
	unfit []unfit
	// octetsLeft may still be spelled out.
	octetsLeft uint64
}

func newCompiler(r *strictyaml.Report, clean bool) *compiler {
	return &compiler{
		Report: r, clean: clean,
		script: &synth.Script{Link: usualLink(), Capture: usualCapture()},
		seed:   1, mtu: defaultMTU,
		hosts:      [2]settings{usual(synth.Client), usual(synth.Server)},
		connNumber: map[string]int{}, streams: map[string]uint16{}, verbs: verbs(),
		timeline:   timeline{messages: map[string]message{}, ordinals: map[string]int{}, regions: map[region]bool{}},
		octetsLeft: maxOctets,
	}
}

// scenario reads the whole file. What later parts speak of is read first,
// whatever the order in the file.
func (c *compiler) scenario(s *Scenario) *synth.Script {
	var summary, connections, steps, faults, link, capture, both *node
	var own [2]*node
	root := s.root
	if !c.Mapping(root, keys{
		"summary":     keep(&summary),
		"about":       c.Text(&s.About),
		"rules":       func(n *node) { s.Rules = c.rules(n) },
		"shows":       c.evidence(&s.Shows),
		"misses":      c.evidence(&s.Misses),
		"seed":        number(c, &c.seed, 0, math.MaxUint64),
		"initiator":   word(c, &c.initiator, "side", sides),
		"transport":   word(c, &c.sctpEverywhere, "transport", transports),
		"both":        keep(&both),
		"client":      keep(&own[synth.Client]),
		"server":      keep(&own[synth.Server]),
		"connections": keep(&connections),
		"link":        keep(&link),
		"capture":     keep(&capture),
		"timeline":    keep(&steps),
		"faults":      keep(&faults),
	}) {
		return nil
	}
	if s.seed != nil {
		c.seed = *s.seed
	}
	if s.part == nil {
		c.summary(root, summary, &s.Summary)
	}
	c.some(link, c.link)
	c.some(capture, c.capture)
	c.some(link, c.outermost)
	for side := range own {
		c.some(both, func(n *node) { c.settings(n, &c.hosts[side]) })
		c.some(own[side], func(n *node) { c.settings(n, &c.hosts[side]) })
	}
	c.connections(connections)
	c.framed()
	c.foreseen(s.part)
	if steps == nil {
		c.Fail(root.Pos, "there is no timeline")
	} else {
		c.script.Timeline = c.steps(steps, scope{times: 1})
	}
	c.some(faults, c.faults)

	if c.clean && c.faulty {
		c.script.Awaited = nil // packets and times are those of the trace with its faults
	}
	c.script.Seed, c.script.Link.Seed, c.script.Capture.Seed = c.seed, c.seed, c.seed
	c.script.Capture.Comment = c.comment(s)
	c.limits()
	c.script.Connections = c.finished()
	if s.part == nil { // who plays a part says which side begins
		c.refusing()
	}
	if c.Failed() == 0 {
		c.inOrder()
	}
	return c.script
}

// some reads a node if there is one.
func (c *compiler) some(n *node, read func(*node)) {
	if n != nil {
		read(n)
	}
}

func (c *compiler) summary(root, n *node, p *string) {
	if n == nil {
		c.Fail(root.Pos, "there is no summary")
		return
	}
	if c.Text(p)(n); n.Kind == scalar && (*p == "" || len(*p) > 120 || !isLine(*p)) {
		c.Fail(n.Pos, "a summary is one line of at most 120 octets")
	}
}

func isLine(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return false
		}
	}
	return true
}

// comment is what the file says of itself.
func (c *compiler) comment(s *Scenario) string {
	how := ""
	if c.clean && s.faulty {
		how = " without its faults"
	}
	return fmt.Sprintf("%s%s, seed %d: %s", s.Name, how, c.seed, s.Summary)
}

func (c *compiler) rules(n *node) (ids []string) {
	c.List(n, func(n *node) {
		switch {
		case !c.Is(n, scalar):
		case !known(n.Text):
			c.Unknown(n.Pos, "rule", n.Text, ruleIDs())
		default:
			ids = append(ids, n.Text)
		}
	})
	return ids
}

// known reports whether the catalogue has a rule, checked on captures or not.
func known(id string) bool {
	_, ok := rulebook.Load().Find(id)
	return ok
}

func ruleIDs() (ids []string) {
	for _, e := range rulebook.Load().Entries {
		ids = append(ids, e.ID)
	}
	return ids
}
