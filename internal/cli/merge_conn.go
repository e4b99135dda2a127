package cli

import (
	"fmt"
	"strings"

	"github.com/iwdissect/iwdissect/internal/dataset"
)

// asking are the results for which the same --conn was given.
type asking struct {
	points []string
	most   uint64 // connections that one of them has
}

// nowhere are connections that --conn named when the results were written, and that none of them
// has: a shard alone cannot know that. Where some of them are there, the shards have told of the others.
func nowhere(results []dataset.Result) (missing []string) {
	all := map[string]*asking{}
	var asked []string
	for i := range results {
		r := &results[i]
		for j := range r.Parts {
			conns := r.Parts[j].Options["conn"]
			if conns == "" {
				continue
			}
			n := all[conns]
			if n == nil {
				n = new(asking)
				all[conns] = n
				asked = append(asked, conns)
			}
			n.most = max(n.most, r.Parts[j].Counters.Connections)
			if len(n.points) == 0 || n.points[len(n.points)-1] != r.Point {
				n.points = append(n.points, r.Point)
			}
		}
	}
	for _, conns := range asked {
		spans, err := spans("--conn", conns, 0)
		if err != nil { // of another version
			continue
		}
		n := all[conns]
		if gone := absentOf(spans, n.most); len(gone) > 0 && len(gone) == len(spans) {
			missing = append(missing, n.points[0]+n.further()+" connection "+strings.Join(gone, ","))
		}
	}
	return missing
}

// further says how many points there are besides the first one.
func (n *asking) further() string {
	if more := len(n.points) - 1; more > 0 {
		return fmt.Sprintf(" and %d more", more)
	}
	return ""
}
