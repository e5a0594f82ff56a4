package access

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
)

func deviceListCommand() *cobra.Command {
	var auth string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Say who may take part, and until when",
		Long: `Prints the users that zofl device add made: name, role, the day it was added, and when its
credentials expire or that it was revoked.`,
		Example: `  zofl device list --auth kitchen.auth`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 0 {
				return cli.Usage(fmt.Errorf("%q: the command takes no name", args[0]))
			}
			d, err := dirOf(auth)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Close()) }()
			users, err := d.Users()
			if err != nil {
				return err
			}
			return printUsers(cmd, users, time.Now())
		},
	}
	authFlag(cmd, &auth)
	return cmd
}

// printUsers prints a table of users.
func printUsers(cmd *cobra.Command, users []enrol.User, now time.Time) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\trole\tadded\tcredentials")
	for _, u := range users {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.Name, u.Role, u.Added.Format(time.DateOnly),
			validity(&u, now))
	}
	return w.Flush()
}

// validity says whether a user's credentials are valid, and until when.
func validity(u *enrol.User, now time.Time) string {
	switch {
	case u.Revoked:
		return "revoked"
	case u.Until.IsZero():
		return "do not expire"
	case now.After(u.Until):
		return "expired on " + u.Until.Format(time.DateTime) + " (UTC)"
	}
	return "until " + u.Until.Format(time.DateTime) + " (UTC)"
}
