package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// askWithin bounds an operator's request.
const askWithin = 10 * time.Second

// An operator asks a running coordinator.
type operator struct {
	connection
	run    string
	asJSON bool
}

func (o *operator) flags(cmd *cobra.Command) {
	o.connection.flags(cmd)
	cmd.Flags().StringVar(&o.run, "run", "", "name of the run")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object instead of the table")
}

// ask sends a verb and prints the status that it left.
func (o *operator) ask(cmd *cobra.Command, verb string, r operate.Request) error {
	if err := checkRun(o.run); err != nil {
		return err
	}
	nc, err := o.dial("zofl " + verb)
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), askWithin)
	defer cancel()
	status, err := operate.Ask(ctx, nc, o.run, verb, r)
	switch {
	case err != nil:
		return classify(err)
	case o.asJSON:
		return json.NewEncoder(cmd.OutOrStdout()).Encode(status)
	}
	printStatus(cmd.OutOrStdout(), status)
	if status.Pending {
		fmt.Fprintf(os.Stderr, "zofl: %s is taken, but not done yet: it waits for the open round, or for the log\n", verb)
	}
	return nil
}

// verb makes the command of a verb that takes nothing but a reason.
func verbCommand(verb, short, long string, reason bool) *cobra.Command {
	var o operator
	var r operate.Request
	cmd := &cobra.Command{
		Use: verb, Short: short, Long: long, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.ask(cmd, verb, r) },
	}
	o.flags(cmd)
	if reason {
		cmd.Flags().StringVar(&r.Reason, "reason", "", "why, for the people whose devices take part")
	}
	return cmd
}

func operatorCommands() []*cobra.Command {
	return []*cobra.Command{
		verbCommand(operate.VerbStatus, "Say what a coordinator is doing", "Asks the coordinator of a run what it is doing.", false),
		verbCommand(operate.VerbPause, "Open no more rounds", "Opens no more rounds until `zofl resume`; devices are told why, and what the open round has collected is kept.", true),
		verbCommand(operate.VerbResume, "Go on after a pause", "Goes on after a pause, whatever caused it.", false),
		verbCommand(operate.VerbStop, "End a run for good", "Ends the run for good: its last record is written, devices are told, and no round follows. To stop a coordinator only, interrupt it.", true),
		rollbackCommand(), changeCommand(),
	}
}

func rollbackCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "rollback RECORD",
		Short: "Return the model to the state after an earlier record",
		Long: `Commits a record that returns every replica to the state after an earlier
record, with the plan as it was then. Nothing is erased: the records between stay
in the log, and the next rounds follow the rollback.`,
		Example: `  zofl rollback 512 --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("name one record to return to, got %d arguments; see %s --help", len(args), cmd.CommandPath())}
			}
			to, err := strconv.ParseUint(args[0], 10, 63)
			if err != nil || to == 0 {
				return usageError{fmt.Errorf("record %q: give the number of a record, from 1 on", args[0])}
			}
			return o.ask(cmd, operate.VerbRollback, operate.Request{To: to})
		},
	}
	o.flags(cmd)
	return cmd
}

func changeCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "change FIELD=VALUE...",
		Short: "Give fields of the plan other values from the next record on",
		Long: `Commits a record that gives fields of the plan other values from there on, for
every replica. Only some fields can change within a run: zofl plan --fields.`,
		Example: `  zofl change step=0.0005 deadline=20000 --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("name the fields to change as FIELD=VALUE; see %s --help", cmd.CommandPath())}
			}
			return o.ask(cmd, operate.VerbChange, operate.Request{Fields: args})
		},
	}
	o.flags(cmd)
	return cmd
}

func printStatus(out io.Writer, s *operate.Status) {
	t := newTable(out)
	t.AppendRows([]table.Row{
		{"run", s.Run}, {"state", stateOf(s)}, {"reason", s.Reason}, {"log", orFine(s.LogError)},
		{"record", s.N}, {"rounds", s.Rounds}, {"epoch", s.Epoch}, {"members", s.Members},
	})
	if s.Phase > 0 {
		t.AppendRow(table.Row{"phase", fmt.Sprintf("%d of 2", s.Phase)})
	}
	t.AppendRows([]table.Row{
		{"attempt", s.Attempt}, {"asked", s.Asked}, {"contributions", s.Contributions}, {"declines", s.Declines},
	})
	t.AppendRows(vectorsOf(s))
	t.AppendRow(table.Row{"loss", s.Loss})
	if e := s.Evaluation; e != nil {
		t.AppendRow(table.Row{fmt.Sprintf("metrics after record %d", e.N), fmt.Sprintf("%v, %d devices", e.Metrics, e.Devices)})
	}
	for _, d := range s.Digests {
		for _, digest := range slices.Sorted(maps.Keys(d.Devices)) {
			t.AppendRow(table.Row{fmt.Sprintf("digest after record %d", d.N), fmt.Sprintf("%s: %d devices", digest, d.Devices[digest])})
		}
		if d.Differing > 0 {
			t.AppendRow(table.Row{"differ from " + d.Reference, fmt.Sprintf("%d devices: %v", d.Differing, d.Differ)})
		}
	}
	t.AppendRow(table.Row{"dropped frames", droppedOf(s)})
	t.Render()
}

// vectorsOf is what there is to say of vectors, of a run that has any.
func vectorsOf(s *operate.Status) (rows []table.Row) {
	c := &s.Counters
	if s.ObjectError != "" {
		rows = append(rows, table.Row{"vectors in the log", s.ObjectError})
	}
	if s.Uploads > 0 || c.UploadBytes > 0 || c.Busy > 0 {
		rows = append(rows, table.Row{"vectors on their way", fmt.Sprintf("%d, %s arrived so far, %d times told to wait, %d dropped as silent",
			s.Uploads, size(c.UploadBytes), c.Busy, c.Evicted)})
	}
	if c.Objects > 0 || c.ObjectErrors > 0 {
		rows = append(rows, table.Row{"vectors fetched", fmt.Sprintf("%d pieces, %s, %d not read", c.Objects, size(c.ObjectBytes), c.ObjectErrors)})
	}
	return rows
}

// stateOf is the state, and how an ended run came to its end.
func stateOf(s *operate.Status) string {
	if s.End == "" {
		return s.State
	}
	return s.State + ": " + s.End
}

// droppedOf is how many frames were dropped, and why.
func droppedOf(s *operate.Status) string {
	text, sep := strconv.FormatUint(s.Dropped, 10), ": "
	for _, d := range s.Counters.Drops() {
		if d.Count > 0 {
			text += fmt.Sprintf("%s%d %s", sep, d.Count, d.Cause)
			sep = ", "
		}
	}
	return text
}

func orFine(text string) string {
	if text == "" {
		return "works"
	}
	return text
}
