package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/internal/points"
)

// pointFlags are the flags of work that is divided among processes: by capture points, or by
// connections.
type pointFlags struct {
	list, task string
	shard      shardFlag
	// chosen are the captures of the points that are read; nil: those of files.
	chosen []*unit
	tell   func(format string, args ...any)
}

// aboutPoints explains the flags, in the help of each command that has them.
const aboutPoints = `

--points FILE reads the captures of many capture points. A line of FILE is a point:
a name of letters, digits, '.', '_' and '-'; its files, globs of them or folders,
from the folder of FILE; and options that hold for it: --merge, --join=given,
--decode-as and --mpa-layout. Words with blanks stand in quotes, and # begins a
comment. The files of a point are one capture, in the order of time. Output has the
order of the points, whatever -j is. All points are read, or with --task K the one
with the number K, from 0. In a job array of Slurm, Kubernetes or AWS Batch K is
that of the task; --task all reads all there too.

--shard K/N keeps one of N parts of the connections of a capture, from 0: for tables
that are too large, or to use several machines. Each part reads all of the capture,
and numbers its own connections and PDUs. docs/scale.md has more.`

func (p *pointFlags) flags(f *pflag.FlagSet, s *IOStreams) {
	p.tell = s.say
	f.StringVar(&p.list, "points", "", "read the capture points that `FILE` lists, one a line, each as one capture")
	f.StringVar(&p.task, "task", "", "read only point `K` of --points, from 0; all reads all (default $"+taskVariables[0]+", $"+taskVariables[1]+" or $"+taskVariables[2]+", else all)")
	f.Var(&p.shard, "shard", "keep one of N parts of the connections: `K/N` with K from 0")
}

// listed reports whether there are points instead of files.
func (p *pointFlags) listed() bool { return p.list != "" }

// taskVariables are where batch engines tell a process which one of an array it is.
var taskVariables = [...]string{"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"}

// allTasks is the --task that reads all points.
const allTasks = "all"

// number is which point --task, or else the batch engine, asks for, and who did; "": all.
func (p *pointFlags) number() (text, from string, err error) {
	if p.task != "" {
		return p.task, "--task", nil
	}
	for _, name := range taskVariables {
		switch v := os.Getenv(name); {
		case v == "" || v == text:
		case text == "":
			text, from = v, name
		default:
			return "", "", usagef("%s is %s, and %s is %s: --task says which point is meant", from, text, name, v)
		}
	}
	return text, from, nil
}

// pick takes the points that are to be read.
func (p *pointFlags) pick(all []points.Point) ([]points.Point, error) {
	text, from, err := p.number()
	if err != nil || text == "" || text == allTasks {
		return all, err
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 0 || k >= len(all) {
		return nil, usagef("%s is %q, and the points of %s are 0 to %d", from, text, p.list, len(all)-1)
	}
	if from != "--task" { // which nobody typed
		p.tell("point %s, number %d of %s: %s says so", all[k].Name, k, p.list, from)
	}
	return all[k : k+1], nil
}

// pointFiles reads the list of the points, and returns the files of those that are to be read.
func (in *input) pointFiles(s *IOStreams, args []string) (files []string, err error) {
	switch {
	case len(args)+len(in.read) > 0:
		return nil, usagef("--points says what is read, and %s does too: name it in a line of the points file", slices.Concat(in.read, args)[0])
	case in.single():
		return nil, usagef("the files of a point are read in the order of time; --merge, or --join=given, goes into its line of the points file")
	}
	all, err := s.readPoints(in.points.list)
	if err != nil {
		return nil, &usageError{err}
	}
	for i := range all {
		if err := pointOptions(&all[i], new(pipeline.Options)); err != nil {
			return nil, &usageError{err}
		}
	}
	if all, err = in.points.pick(all); err != nil {
		return nil, err
	}
	for i := range all {
		u := pointUnit(&all[i])
		in.points.chosen = append(in.points.chosen, u)
		files = append(files, u.files...)
	}
	s.reads(files...)
	if _, again := eachOnce(files); len(again) > 0 {
		s.say("%s: two points read %s, and what it holds counts for both", in.points.list, again[0].name)
	}
	return files, s.outApart()
}

// pointUnit is the capture of a point. Its files are looked for now.
func pointUnit(p *points.Point) *unit {
	u := &unit{point: p.Name, name: "point " + p.Name, how: new(together)}
	u.set = func(opt *pipeline.Options) { _ = pointOptions(p, opt) } // which were checked
	files, err := p.Files()
	if err == nil {
		if u.files, err = expand(files); err != nil {
			err = &points.Error{File: p.List, Line: p.Line, Err: fmt.Errorf("point %s: %w", p.Name, err)}
		}
	}
	u.files, _ = eachOnce(u.files) // as two globs of a point may match one file
	switch {
	case err != nil:
		u.err = err
	case slices.ContainsFunc(u.files, endless):
		waits := u.files[slices.IndexFunc(u.files, endless)]
		u.err = &points.Error{File: p.List, Line: p.Line, Err: fmt.Errorf("point %s: %s is a pipe, a socket or a device, and the files of a point end", p.Name, waits)}
	case p.Options.Merge:
		u.how.merge = true
	case len(u.files) > 1:
		u.how.join = joinOrder(p.Options.Order)
	}
	u.order = func() error {
		sorted, err := u.how.order(u.files)
		if err != nil {
			return &points.Error{File: p.List, Line: p.Line, Err: fmt.Errorf("point %s: %w", p.Name, err)}
		}
		u.files = sorted
		return nil
	}
	return u
}

// endless reports whether a file may have no end: all other points would wait for it.
func endless(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeDevice) != 0
}

// pointOptions sets the options of a point.
func pointOptions(p *points.Point, opt *pipeline.Options) (err error) {
	if o := &p.Options; len(o.DecodeAs) > 0 || o.Layout != "" {
		if len(o.DecodeAs) > 0 {
			opt.DecodeAs, err = decodePorts(o.DecodeAs)
		}
		if o.Layout != "" && err == nil {
			err = setLayout(opt, o.Layout)
		}
	}
	if err != nil {
		return &points.Error{File: p.List, Line: p.Line, Err: fmt.Errorf("point %s: %w", p.Name, err)}
	}
	return nil
}

// completeTasks offers the points of the list on the command line, by number.
func completeTasks(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	offers := []string{allTasks + "\tall points"}
	if list, err := cmd.Flags().GetString("points"); err == nil && list != "" {
		all, _ := points.Read(list) // it writes nothing; what is wrong with it is told when the command runs
		for i := range all {
			offers = append(offers, strconv.Itoa(i)+"\t"+all[i].Name)
		}
	}
	return beginning(word, offers), cobra.ShellCompDirectiveNoFileComp
}
