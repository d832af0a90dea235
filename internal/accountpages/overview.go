package accountpages

import (
	"context"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/session"
)

// class is a class of routes, in words.
type class struct {
	Name      kernel.Class
	PerMinute int
	For       string
}

// classes are those of a policy.
func classes(p account.Policy) []class {
	return []class{
		{kernel.Light, p.LightPerMinute, "status, blocks, transactions and other single records"},
		{kernel.Heavy, p.HeavyPerMinute, "lists, searches, balances, traces and calls of contracts"},
		{kernel.Batch, p.BatchPerMinute, "many addresses or transactions in one request"},
	}
}

type overview struct {
	Now       time.Time
	Who       session.Who
	Space     account.Workspace
	Policy    account.Policy
	Classes   []class
	AtWork    kernel.Places // requests under way at the same time
	Active    int           // keys
	KeysMore  bool
	Default   *account.Key // nil when there is none
	Since     time.Time    // when the counting begins
	Requests  int64
	Failures  int64
	Members   int
	MoreThere bool // than Members
	Idle      int  // hours until a session ends that is left alone
	Kind      string
	Form      string
	Others    []session.Membership // workspaces that the visitor can switch to
	MoreSpace bool                 // than Others
}

// kinds say what it means that a workspace is of a kind; an ordinary one means nothing.
var kinds = map[account.Kind]string{
	account.WalletKind:   "A wallet's workspace: it may search wide ranges of events.",
	account.PartnerKind:  "A partner's workspace: keys that members issue may use the partner routes.",
	account.InternalKind: "A workspace of the operator's own: its keys are made by the operator alone.",
}

func (p *pages) overview(ctx context.Context, v *visit) (*sheet, error) {
	o := overview{Now: v.now, Who: v.who, Policy: v.who.Plan.Policy(), Idle: int(session.Idle / time.Hour), Since: windows[0].start(v.now), AtWork: p.desk.Bounds().AtWork}
	o.Classes = classes(o.Policy)
	list, err := p.keyList(ctx, v)
	if err != nil {
		return nil, err
	}
	o.Space, o.Kind = list.Space, kinds[list.Space.Kind]
	o.Active, o.KeysMore, o.Default = len(list.Active), list.More, list.Default
	steps, err := p.Usage.Series(ctx, v.who.WorkspaceID, v.now.Sub(o.Since))
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		o.Requests, o.Failures = o.Requests+s.Requests, o.Failures+s.Failures
	}
	members, more, err := p.People.Members(ctx, v.who.WorkspaceID, mostMembers)
	if err != nil {
		return nil, err
	}
	o.Members, o.MoreThere = len(members), more
	o.Form = p.desk.FormToken(v.who)
	if o.Others, o.MoreSpace, err = p.People.Memberships(ctx, v.who, mostWorkspaces); err != nil {
		return nil, err
	}
	return &sheet{title: "Overview", name: "overview.html", data: o}, nil
}
