package spare_test

import (
	"testing"

	"github.com/iwdissect/iwdissect/internal/spare"
)

func TestList(t *testing.T) {
	t.Parallel()
	var l spare.List[int]
	one, two, three := l.Take(), l.Take(), l.Take()
	if *one != 0 || one == two || two == three {
		t.Fatal("new parts are not new")
	}
	*two = 2
	for _, x := range []*int{one, two, three} {
		l.Give(x, 2)
	}
	if l.Take() != two || *two != 2 || l.Take() != one {
		t.Error("parts are not those that were given")
	}
	if x := l.Take(); x == one || x == two || x == three {
		t.Error("more parts were kept than the bound")
	}
}
