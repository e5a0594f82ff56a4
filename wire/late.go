package wire

// MaxLate bounds Plan.Late, the rounds for which a late contribution still counts.
const MaxLate = 64

// Staleness is the discount s(age) of a late contribution. Its age is the number of rounds from
// the one that it belongs to to the one that counts it, along the log's path.
type Staleness uint8

const (
	// StaleRoot: 1/sqrt(1+age), the choice of FedBuff (Nguyen et al. 2022).
	StaleRoot Staleness = 0
	// StaleConstant: 1, no discount; FedAsync (Xie et al. 2019).
	StaleConstant Staleness = 1
	// StalePolynomial: (1+age)^-a, FedAsync; a is Plan.StalenessA.
	StalePolynomial Staleness = 2
	// StaleHinge: 1 up to an age of b, then 1/(1 + a(age-b)), FedAsync; a and b are
	// Plan.StalenessA and Plan.StalenessB.
	StaleHinge Staleness = 3
)

var stalenessNames = []string{"inverse-sqrt", "constant", "polynomial", "hinge"}
