/** Order of the API groups in discovery: by priority, highest first. */
const PRIORITIES: Readonly<Record<string, number>> = {
  'apiregistration.orch.io': 18_500,
  '': 18_000,
  apps: 17_800,
  'events.orch.io': 17_750,
  'authentication.orch.io': 17_700,
  'authorization.orch.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.orch.io': 17_300,
  'networking.orch.io': 17_200,
  policy: 17_100,
  'rbac.authorization.orch.io': 17_000,
  'storage.orch.io': 16_800,
  'admissionregistration.orch.io': 16_700,
  'apiextensions.orch.io': 16_700,
  'scheduling.orch.io': 16_600,
  'coordination.orch.io': 16_500,
  'node.orch.io': 16_300,
  'discovery.orch.io': 16_200,
  'flowcontrol.apiserver.orch.io': 16_100,
  'internal.apiserver.orch.io': 16_000
}

export const priorityOf = (group: string): number => Object.hasOwn(PRIORITIES, group) ? PRIORITIES[group] ?? 0 : 0
