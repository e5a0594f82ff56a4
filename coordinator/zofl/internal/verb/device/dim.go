package device

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// wrongDim says what to do about a model without the plan's number of parameters, and returns other
// errors unchanged. In model, %[1]d stands for the plan's number and %[2]d for the model's.
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
