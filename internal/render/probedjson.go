package render

import (
	"encoding/json"
	"io"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/probe"
)

// The members of what probe prints as JSON.
type (
	probedJSON struct {
		Schema   string       `json:"schema"`
		Address  string       `json:"address"`
		Role     string       `json:"role"`
		Complete bool         `json:"complete"`
		Failure  string       `json:"failure,omitempty"`
		Peer     *peerJSON    `json:"peer,omitempty"`
		Summary  probeSummary `json:"summary"`
		Cases    []caseJSON   `json:"cases"`
	}
	peerJSON struct {
		Enhanced bool    `json:"enhanced"`
		CRC      bool    `json:"crc"`
		Memory   *uint64 `json:"memory,omitempty"`
	}
	probeSummary struct {
		Cases     int   `json:"cases"`
		Passed    int   `json:"passed"`
		Failed    int   `json:"failed"`
		NotJudged int   `json:"not_judged"`
		LeftOut   int   `json:"left_out"`
		Took      int64 `json:"took_ns"`
	}
	caseJSON struct {
		Case     string         `json:"case"`
		Group    string         `json:"group,omitempty"`
		Verdict  string         `json:"verdict"`
		Rules    []string       `json:"rules"`
		Broken   []string       `json:"broken,omitempty"`
		Spec     string         `json:"spec"`
		Section  string         `json:"section,omitempty"`
		Sent     string         `json:"sent"`
		Demanded string         `json:"demanded"`
		Came     string         `json:"came,omitempty"`
		Reason   string         `json:"reason,omitempty"`
		Capture  string         `json:"capture,omitempty"`
		Took     int64          `json:"took_ns"`
		PDUs     []probePDU     `json:"pdus,omitempty"`
		Findings []probeFinding `json:"findings,omitempty"`
	}
	probePDU struct {
		By   string `json:"by"`
		Info string `json:"info"`
	}
	probeFinding struct {
		By       string `json:"by"`
		Rule     string `json:"rule"`
		Level    string `json:"level"`
		Frame    uint64 `json:"frame"`
		Message  string `json:"message"`
		Observed string `json:"observed,omitempty"`
		Expected string `json:"expected,omitempty"`
	}
)

// The sides of a case.
const byProbe, byPeer = "probe", "peer"

// ProbedJSON writes results for programs: docs/schema/probe.schema.json.
func ProbedJSON(w io.Writer, p *Probed) error {
	doc := probedJSON{
		Schema: "iwdissect-probe/1", Address: p.Address, Role: p.Role.String(), Complete: p.Failure == "", Failure: p.Failure,
		Summary: probeSummary{
			Cases: p.Cases, Passed: p.Count(probe.Pass), Failed: p.Count(probe.Fail), NotJudged: p.Count(probe.NotJudged),
			LeftOut: p.Cases - len(p.Results), Took: p.Took.Nanoseconds(),
		},
		Cases: []caseJSON{},
	}
	if q := p.Peer; q != nil {
		doc.Peer = &peerJSON{Enhanced: q.Enhanced, CRC: q.CRC}
		if q.Memory != nil {
			doc.Peer.Memory = &q.Memory.Size
		}
	}
	for _, r := range p.Results {
		doc.Cases = append(doc.Cases, caseOf(p, r))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(&doc)
}

func caseOf(p *Probed, r *probe.Result) caseJSON {
	c := r.Case
	j := caseJSON{
		Case: c.Name, Group: c.Group, Verdict: map[probe.Verdict]string{probe.Pass: "pass", probe.Fail: "fail", probe.NotJudged: "not-judged"}[r.Verdict],
		Rules: c.Rules, Broken: r.Broken, Spec: c.Spec, Section: c.Section, Sent: c.Sends, Demanded: c.Demands,
		Came: r.Came, Reason: r.Reason, Capture: p.Captures[c.Name], Took: r.Took.Nanoseconds(),
	}
	if r.Exchange == nil {
		return j
	}
	for _, u := range r.Exchange.PDUs {
		by := byProbe
		if u.Peer {
			by = byPeer
		}
		j.PDUs = append(j.PDUs, probePDU{by, u.Info})
	}
	add := func(by string, fs []conformance.Finding) {
		for i := range fs {
			f := &fs[i]
			j.Findings = append(j.Findings, probeFinding{by, f.Rule.ID, f.Severity.String(), f.Frame, f.Message, f.Observed, f.Expected})
		}
	}
	add(byPeer, r.Exchange.Peer)
	add(byProbe, r.Exchange.Own)
	return j
}
