package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers"
	"github.com/zofl/zofl/papers/lab"
)

func list(out io.Writer, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%w: list takes no argument, got %q", errUsage, args[0])
	}
	for _, e := range papers.All() {
		if _, err := fmt.Fprintf(out, "%-24s %s (%s; %s)\n", e.ID, e.Title, e.Paper, e.Long); err != nil {
			return err
		}
	}
	return nil
}

// An order holds the arguments of the subcommand run.
type order struct {
	env        lab.Env
	asJSON     bool
	csv, plot  string
	table      string
	experiment *lab.Experiment
}

func run(ctx context.Context, out, progress io.Writer, args []string) error {
	o, err := parse(progress, args)
	if err != nil {
		return err
	}
	o.env.Logf = log.New(progress, "", log.Ltime).Printf
	report, err := o.experiment.Run(ctx, &o.env)
	if err != nil && report.Table.Rows == nil {
		return err
	}
	// After an interrupt, run still writes the results so far.
	return errors.Join(err, o.write(out, report, err == nil))
}

func parse(progress io.Writer, args []string) (*order, error) {
	o := &order{}
	flags := flag.NewFlagSet("paper run ID", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.BoolVar(&o.env.Short, "short", false, "finish within five minutes on two cores")
	flags.IntVar(&o.env.Seeds, "seeds", 0, "runs of each curve; 0: the experiment's own number")
	flags.StringVar(&o.env.Data, "data", os.Getenv("ZOFL_DATA"),
		"directory of the data sets; $ZOFL_DATA")
	flags.StringVar(&o.env.Dir, "dir", "",
		"keep logs and curves there, and go on with those that are there")
	flags.BoolVar(&o.env.Screen, "screen", false,
		"give gradients instead of losses, to look at plans in a small part of the time")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object")
	flags.StringVar(&o.csv, "csv", "", "write the curves, or the table, to this file")
	flags.StringVar(&o.plot, "plot", "",
		"draw the curves to this file, FILE.svg, and other figures to FILE-2 and so on")
	flags.StringVar(&o.table, "table", "", "write the summary to this file, as Markdown")
	list := func(of *[]string) func(string) error {
		return func(text string) error {
			*of = strings.Split(text, ",")
			return nil
		}
	}
	flags.Func("presets", "only these, with commas between"+takenBy("presets"),
		list(&o.env.Presets))
	flags.Func("tasks", "only these, with commas between; a wrong one gets the list"+
		takenBy("tasks"), list(&o.env.Tasks))
	flags.Uint64Var(&o.env.Rounds, "rounds", 0, "most of a run; 0: the experiment's own number"+
		takenBy("rounds"))
	flags.IntVar(&o.env.Devices, "devices", 0, "devices, liars among them, or contributors"+
		takenBy("devices"))
	flags.IntVar(&o.env.Liars, "liars", 0, "devices that lie; 0: a fifth"+takenBy("liars"))
	flags.Func("lies", "only these, with commas between"+takenBy("lies"), list(&o.env.Lies))
	flags.Func("arm", "compare this method, in place of the experiment's; may be repeated: its "+
		"name, or, with byzantine and zofl-mnist, \"NAME BASE FIELD=VALUE ...\" for a new one made "+
		"from an arm or, with zofl-mnist, a preset"+takenBy("arm"),
		func(text string) error {
			o.env.Arms = append(o.env.Arms, text)
			return nil
		})
	id := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		id, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if id == "" && flags.NArg() == 1 {
		id = flags.Arg(0)
	} else if flags.NArg() > 0 {
		return nil, fmt.Errorf("%w: %q is one argument too many", errUsage, flags.Arg(0))
	}
	if err := o.check(id); err != nil {
		return o, err
	}
	return o, o.takes(flags)
}

// takenBy lists the experiments that take an option, for the option's help.
func takenBy(option string) string {
	var ids []string
	for _, e := range papers.All() {
		if slices.Contains(e.Takes, option) {
			ids = append(ids, e.ID)
		}
	}
	return "; taken by " + strings.Join(ids, ", ")
}

// takes returns an error if the command line has an option that this experiment does not use.
func (o *order) takes(flags *flag.FlagSet) (err error) {
	some := map[string]bool{}
	for _, e := range papers.All() {
		for _, name := range e.Takes {
			some[name] = true
		}
	}
	flags.Visit(func(f *flag.Flag) {
		if some[f.Name] && !slices.Contains(o.experiment.Takes, f.Name) {
			err = fmt.Errorf("%w: %s does not take --%s", errUsage, o.experiment.ID, f.Name)
		}
	})
	return err
}

// check returns an error for a mistake in the command line, before any training begins.
func (o *order) check(id string) (err error) {
	if o.experiment, err = papers.Find(id); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.env.Seeds < 0 {
		return fmt.Errorf("%w: --seeds %d: give a number of runs, or 0 for the experiment's own",
			errUsage, o.env.Seeds)
	}
	if o.plot != "" && filepath.Ext(o.plot) != ".svg" {
		return fmt.Errorf("%w: --plot %q: name a file that ends in .svg", errUsage, o.plot)
	}
	return nil
}

// write writes the report, with its claims only if it is complete.
func (o *order) write(out io.Writer, r *lab.Report, whole bool) error {
	var errs []error
	if o.csv != "" {
		errs = append(errs, writeFile(o.csv, r.Table.WriteCSV))
	}
	if o.table != "" {
		errs = append(errs, writeFile(o.table, r.Summary.WriteMarkdown))
	}
	if o.plot != "" {
		errs = append(errs, r.Figure.WriteFile(o.plot))
		for i := range r.More {
			file := fmt.Sprintf("%s-%d.svg", strings.TrimSuffix(o.plot, ".svg"), i+2)
			errs = append(errs, r.More[i].WriteFile(file))
		}
	}
	switch {
	case !whole:
	case o.asJSON:
		errs = append(errs, r.WriteJSON(out))
	default:
		errs = append(errs, r.WriteText(out))
	}
	return errors.Join(errs...)
}

func writeFile(file string, write func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
