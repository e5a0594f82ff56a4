package device

import (
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// wrongDim explains what to do if the model has another number of parameters than the plan.
// wrongDim returns other errors unchanged. In the text model, %[1]d stands for the plan's number of
// parameters and %[2]d for the model's.
func wrongDim(err error, model string) error {
	wrong := new(replica.DimError)
	switch {
	case errors.As(err, &wrong):
		return cli.Usage(fmt.Errorf("the plan has %[1]d parameters, "+model, wrong.Plan, wrong.Model))
	case errors.Is(err, replica.ErrDim): // the error is about the state in --store
		return cli.Usage(err)
	}
	return err
}
