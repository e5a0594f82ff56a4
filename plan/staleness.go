package plan

// MaxLate bounds Plan.Late, the rounds for which a late contribution still counts.
const MaxLate = 64
