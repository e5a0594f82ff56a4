package access

import (
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// formats are the formats of permissions that --format can name.
var formats = map[string]func(*jwt.Permissions) (string, error){
	"conf": func(p *jwt.Permissions) (string, error) { return grant.Conf(p), nil },
	"jwt":  grant.JWT,
}

// Permissions is `zofl permissions`.
func Permissions() *cobra.Command {
	var use grant.Use
	var role, format string
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Print which subjects a part of a run needs",
		Long: `Prints the permissions that a part of a run needs in the broker, and no more. Deny it all
else. The roles:

  device       takes part in the run
  witness      follows it, reports digests and serves snapshots (zofl follow)
  coordinator  leads it (zofl serve), or opens its log in JetStream
  operator     sends commands to its coordinator, and reads the log from it

The format conf is for a user in the configuration of a nats-server. The format jwt has the
same as the claims of a user's JWT, below "nats".

zofl serve --tls --auth makes a broker that has all this: then nothing needs to be written.`,
		Example: `  zofl permissions --run kitchen --role device --device pi-1`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := formats[format]
			if !ok {
				return cli.Usage(fmt.Errorf("--format %q: choose conf or jwt", format))
			}
			if use.Run == "" {
				return cli.Usage(errors.New("--run is missing: give the name of the run"))
			}
			p, err := grant.For(grant.Role(role), use)
			if err != nil {
				return cli.Usage(err)
			}
			text, err := write(p)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&use.Run, "run", "", "name of the run")
	f.StringVar(&role, "role", string(grant.Device), "part in the run: "+grant.Names())
	f.StringVar(&use.ID, "device", "", "name of the device or witness: its --id")
	f.BoolVar(&use.Dense, "dense", false, "the plan has transport=dense")
	f.BoolVar(&use.Secure, "secure", false, "the plan has secure=sum")
	f.BoolVar(&use.Model, "model", false, "zofl serve has --offer, and devices may fetch the model")
	f.BoolVar(&use.JetStream, "jetstream", false, "the coordinator's log is in JetStream")
	f.BoolVar(&use.Recovered, "recovered", false, "zofl recover made the coordinator's log")
	f.StringVar(&format, "format", "conf", "conf or jwt")
	return cmd
}
