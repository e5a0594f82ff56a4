package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Topic is help about flags that is told once, and not by each command that has them.
type Topic struct {
	Name  string   // of the command that tells it: zofl help NAME
	Title string   // heading in the help of the other commands
	Says  string   // what the flags are about, in few words
	Shown []string // flags that the other commands tell too, under the heading
}

// topicOf is the key of the annotation that holds the topic of a flag.
const topicOf = "zofl-topic"

// Mark makes flags part of the topic.
func (t *Topic) Mark(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := flags.SetAnnotation(name, topicOf, []string{t.Name}); err != nil {
			panic("cli: internal error: " + err.Error()) // no such flag
		}
	}
}

// Command makes the command whose help is the topic.
func (t *Topic) Command(short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: t.Name, Short: short, Long: long, Example: example, Args: NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// TellOnce changes the help of each command below root, except those of the topics themselves. The
// flags of a topic have a heading of their own, which names the topic.
func TellOnce(root *cobra.Command, topics ...*Topic) {
	usual := (&cobra.Command{}).UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		if slices.ContainsFunc(topics, func(t *Topic) bool { return t.Name == cmd.Name() }) {
			return usual(cmd)
		}
		told := make([][]*pflag.Flag, len(topics))
		for i, t := range topics {
			told[i] = t.of(cmd)
			for _, f := range told[i] { // hidden only here, because shells complete them
				f.Hidden = true
				defer func() { f.Hidden = false }()
			}
		}
		if err := usual(cmd); err != nil {
			return err
		}
		for i, t := range topics {
			if len(told[i]) > 0 {
				cmd.Print(t.section(told[i]))
			}
		}
		return nil
	})
}

// of returns the flags of a command that are part of the topic.
func (t *Topic) of(cmd *cobra.Command) (list []*pflag.Flag) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(f.Annotations[topicOf], t.Name) {
			list = append(list, f)
		}
	})
	return list
}

// section returns the part of a command's help that names the topic.
func (t *Topic) section(flags []*pflag.Flag) string {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, f := range flags {
		if slices.Contains(t.Shown, f.Name) {
			shown := *f
			shown.Hidden = false
			set.AddFlag(&shown)
		}
	}
	return fmt.Sprintf("\n%s:\n%s      %s: see zofl help %s\n", t.Title, set.FlagUsages(), t.Says,
		t.Name)
}
