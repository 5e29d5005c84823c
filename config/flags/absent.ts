/** Flags of the public project whose work is not done here. Each is refused by name, since its user relies on it. */
const LEADER_ELECTION = 'candidates for leader election are not chosen from here'
const PEERS = 'requests that only another API server can serve are not passed on to it'

export const ABSENT: Readonly<Record<string, string>> = {
  'coordinated-leadership-lease-duration': LEADER_ELECTION,
  'coordinated-leadership-renew-deadline': LEADER_ELECTION,
  'coordinated-leadership-retry-period': LEADER_ELECTION,
  'peer-advertise-ip': PEERS,
  'peer-advertise-port': PEERS,
  'peer-ca-file': PEERS
}
