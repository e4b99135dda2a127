package cli

import (
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// shardFlag is --shard.
type shardFlag struct{ pipeline.Shard }

// maxShards bounds N: each part reads all of the capture.
const maxShards = 1 << 16

// unsharded reports whether a run has all connections of a capture. Of a part it cannot be said what
// the capture lacks.
func unsharded(opt *pipeline.Options) bool { return opt.Shard.All() }

// Type, String and Set implement [pflag.Value].
func (*shardFlag) Type() string { return "K/N" }

// String is as the flag is written.
func (s *shardFlag) String() string {
	if s.N == 0 {
		return ""
	}
	return strconv.Itoa(int(s.K)) + "/" + strconv.Itoa(int(s.N))
}

// Set reads K/N.
func (s *shardFlag) Set(text string) error {
	first, second, ok := strings.Cut(text, "/")
	k, err1 := strconv.ParseUint(first, 10, 32)
	n, err2 := strconv.ParseUint(second, 10, 32)
	switch {
	case !ok || err1 != nil || err2 != nil || n == 0 || n > maxShards:
		return usagef("K/N such as 0/4: part K, from 0, of N")
	case k >= n:
		return usagef("K/N with K from 0 to %d, if N is %d", n-1, n)
	}
	s.K, s.N = uint32(k), uint32(n)
	return nil
}
