package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/render"
)

// The names of flags whose value may be left out, see [prepared].
const timeFlag, colourFlag = "time-format", "color"

// noTime is the value that stands for -t without one.
const noTime = "none"

// timeWord is a value of -t.
type timeWord struct {
	word   string
	format render.TimeFormat
	means  string
}

// timeWords are the values of -t, in the order of the help: those of tshark, and what
// remains of the flags of tcpdump. -tttt is -t with the value ttt. Where tshark tells
// local time from UTC there is no difference here: all times are in UTC.
var timeWords = []timeWord{
	{"a", render.TimeOfDay, "time of day"},
	{"ad", render.Date, "date and time"},
	{"adoy", render.DayOfYear, "day of the year and time"},
	{"r", render.SinceFirst, "seconds since the first frame"},
	{"d", render.SinceFrame, "seconds since the frame before"},
	{"dd", render.SinceShown, "seconds since the line before"},
	{"e", render.Epoch, "seconds since 1970"},
	{"u", render.TimeOfDay, "time of day"},
	{"ud", render.Date, "date and time"},
	{"udoy", render.DayOfYear, "day of the year and time"},
	{noTime, render.NoTime, "no time, as -t alone"},
	{"t", render.Epoch, "-tt of tcpdump: seconds since 1970"},
	{"tt", render.SinceShown, "-ttt of tcpdump: seconds since the line before"},
	{"ttt", render.Date, "-tttt of tcpdump: date and time"},
	{"tttt", render.SinceFirst, "-ttttt of tcpdump: seconds since the first frame"},
}

// isTimeWord reports whether a word is a value of -t.
func isTimeWord(word string) bool {
	return slices.ContainsFunc(timeWords, func(w timeWord) bool { return w.word == word })
}

// timeFormat is the value of -t. It implements [pflag.Value].
type timeFormat struct {
	format render.TimeFormat
	word   string
}

func (t *timeFormat) flag(f *pflag.FlagSet) {
	f.VarP(t, timeFlag, "t", "show times as `HOW`, in UTC: a (time of day, the default), ad (with the date), adoy, r (seconds since the first frame), d (since the frame before), dd (since the line before), e (since 1970), or none; u, ud and udoy are the same as a, ad and adoy; also -t (none), -tt (e), -ttt (dd), -tttt (ad) and -ttttt (r) as in tcpdump")
}

// plain reports whether times need nothing but themselves.
func (t *timeFormat) plain() bool {
	switch t.format {
	case render.SinceFirst, render.SinceFrame, render.SinceShown:
		return false
	case render.TimeOfDay, render.Date, render.DayOfYear, render.Epoch, render.NoTime:
	}
	return true
}

// Set reads the value.
func (t *timeFormat) Set(word string) error {
	for _, w := range timeWords {
		if w.word == word {
			t.word, t.format = word, w.format
			return nil
		}
	}
	var words []string
	for _, w := range timeWords {
		if w.word == noTime {
			break
		}
		words = append(words, w.word)
	}
	return errors.New("it takes " + strings.Join(words, ", ") + " or " + noTime)
}

func (t *timeFormat) String() string { return t.word }

// Type names the value in help.
func (t *timeFormat) Type() string { return "string" }
