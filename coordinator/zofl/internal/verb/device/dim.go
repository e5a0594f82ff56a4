package device

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// wrongDim explains what to do if the model has another number of parameters than the plan. It
// returns other errors unchanged. In the text model, %[1]d is replaced by the plan's number and
// %[2]d by the model's.
func wrongDim(err error, model string) error {
	wrong := new(replica.DimError)
	switch {
	case errors.As(err, &wrong):
		return cli.Usage(fmt.Errorf("the plan has %[1]d parameters, "+model, wrong.Plan, wrong.Model))
	case errors.Is(err, replica.ErrDim): // of the state in --store, with its remedy
		return cli.Usage(err)
	}
	return err
}
