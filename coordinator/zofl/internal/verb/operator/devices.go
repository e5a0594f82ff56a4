package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
)

func devicesCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "devices [RUN]",
		Short: "List the devices of a run",
		Long: `Lists the members of a run, the absent ones first. A device is

  present   if it answers, or was not asked yet
  silent    if three rounds waited for it in vain
  away      if it keeps declining, and stepped out for a while
  left      if it said goodbye
  left out  if sums leave it out, because it sent false keys or shares; the note says more
  retired   if zofl retire removed it
  ended     if it was present when the run ended

A round waits for present devices only. The others keep their slots, and are present again
when they come back, except retired ones and those left out. Times, latency, declines and the
last record that a device contributed to are what this coordinator has seen since it began.
The note ends with what the device tells about itself, and the numbers that its app
reported. An open roster lists nobody.`,
		Example: `  zofl devices --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return cli.Usage(fmt.Errorf("%d runs: name one", len(args)))
			case len(args) == 1 && o.run != "" && o.run != args[0]:
				return cli.Usage(fmt.Errorf("--run %s and %s are two runs: name one", o.run, args[0]))
			case len(args) == 1:
				o.run = args[0]
			}
			return o.list(cmd)
		},
	}
	o.flags(cmd)
	return cmd
}

// list prints the devices of a run.
func (o *operator) list(cmd *cobra.Command) error {
	nc, err := o.open("devices")
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), connect.AskWithin)
	defer cancel()
	list, err := operate.Devices(ctx, nc, o.run)
	switch {
	case err != nil:
		return cli.Classify(err)
	case o.asJSON && list == nil:
		list = []operate.Device{}
	}
	if o.asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"run": o.run,
			"devices": list})
	}
	printDevices(cmd.OutOrStdout(), list)
	return nil
}

func printDevices(out io.Writer, list []operate.Device) {
	if len(list) == 0 {
		fmt.Fprintln(out, "no devices: none has joined, or the roster is open and lists nobody")
		return
	}
	t := cli.NewTable(out, "id", "slot", "state", "last seen", "record", "latency", "declines",
		"note")
	var states []string
	count := map[string]int{}
	for i := range list {
		d := &list[i]
		t.AppendRow(table.Row{d.ID, d.Slot, d.State, lastSeen(d), d.Record, latencyOf(d), d.Declines,
			noteOn(d)})
		if count[d.State]++; count[d.State] == 1 {
			states = append(states, d.State)
		}
	}
	t.Render()
	for i, s := range states {
		states[i] = fmt.Sprintf("%d %s", count[s], s)
	}
	fmt.Fprintf(out, "%s: %s\n", terminal.Count(len(list), "device"), strings.Join(states, ", "))
}

func lastSeen(d *operate.Device) string {
	if d.LastSeen == nil {
		return "not since serve began"
	}
	return terminal.Brief(d.Silence) + " ago"
}

func latencyOf(d *operate.Device) string {
	if d.Latency == 0 {
		return ""
	}
	return terminal.Brief(d.Latency / 1000)
}

// noteOn returns the facts about a device that the other columns do not show.
func noteOn(d *operate.Device) string {
	var notes []string
	if d.Awaited {
		notes = append(notes, "the open round waits for it")
	}
	if d.Missed > 0 {
		notes = append(notes, terminal.Count(d.Missed, "round")+" waited in vain")
	}
	if d.Until != nil {
		notes = append(notes, "asked again at "+d.Until.Local().Format("15:04:05"))
	}
	if d.Cut > 0 {
		notes = append(notes, terminal.Count(d.Cut, "contribution")+" cut to the bound")
	}
	if d.Doubt > 0.5 {
		notes = append(notes, fmt.Sprintf("contradicts the others, or sends the same as some: "+
			"counts %.0f %%", 100*(1-d.Doubt)))
	}
	if d.Suspect != "" {
		notes = append(notes, "suspect: "+d.Suspect)
	}
	if d.SameID {
		notes = append(notes, "two devices use this id")
	}
	if text := misdeeds(d.Refused, d.Faulty); text != "" {
		notes = append(notes, text)
	}
	if text := d.Tells(); text != "" {
		notes = append(notes, text)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Reported)) {
		notes = append(notes, fmt.Sprintf("%s %.4g", name, d.Reported[name]))
	}
	return strings.Join(notes, ", ")
}

func retireCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "retire ID...",
		Short: "Remove devices from a run for good",
		Long: `Retires members of a run: no round waits for them, their replies are dropped, and they may
not join again. Their slots stay theirs, so the run's directions stay as they are. A device
that is only away needs no retiring: rounds do not wait for it.

Also revoke the device's credentials at the broker.`,
		Example: `  zofl retire pi-3 --url nats://127.0.0.1:4222 --run kitchen`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(fmt.Errorf("no ids: name the devices; zofl devices lists them; see %s --help",
					cmd.CommandPath()))
			}
			for _, id := range args {
				if err := plan.CheckName(id); err != nil {
					return cli.Usage(fmt.Errorf("id: %w", err))
				}
			}
			return o.retire(cmd, args)
		},
	}
	o.flags(cmd)
	return cmd
}

// retire retires devices one by one. retire stops at the first device that the coordinator refuses
// to retire.
func (o *operator) retire(cmd *cobra.Command, ids []string) error {
	nc, err := o.open(operate.VerbRetire)
	if err != nil {
		return err
	}
	defer nc.Close()
	var status *operate.Status
	for i, id := range ids {
		ctx, cancel := context.WithTimeout(cmd.Context(), connect.AskWithin)
		status, err = operate.Ask(ctx, nc, o.run, operate.VerbRetire, operate.Request{ID: id})
		cancel()
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("%w; retired before: %s", err, strings.Join(ids[:i], ", "))
			}
			return cli.Classify(err)
		}
	}
	return o.show(cmd, operate.VerbRetire, status)
}
