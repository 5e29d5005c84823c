/** Messages and validation of both kinds of bindings: subjects and roleRef. */
import { string, list, type Static, type Report } from '../../language/declare.js'
import { dnsSubdomain, pathSegment } from '../../names.js'
import type { ApiObject } from '../../meta/api-object.js'
import { age, name, type Column } from '../../columns.js'
import { invalid, checkName, notSupported, required } from '../../rules/findings.js'
import { message, RBAC_GROUP } from './package.js'

export type Subject = Static<typeof Subject>
export const Subject = message('Subject', 'Who a binding grants to.', {
  kind: string(1, 'User, Group or ServiceAccount.', { required: true, mayBeEmpty: true }),
  apiGroup: string(
    2, 'Group of the subject; by default empty for a ServiceAccount, rbac.authorization.orch.io for the others.'
  ),
  name: string(3, 'Name of the subject.', { required: true }),
  namespace: string(
    4, 'Namespace of a ServiceAccount, by default that of a RoleBinding; has no meaning for the others.'
  )
}, {
  structType: 'atomic',
  defaults: subject => {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = RBAC_GROUP
  },
  validate: (subject, at, report) => validateSubject(subject, at, report)
})

export type RoleRef = Static<typeof RoleRef>
export const RoleRef = message('RoleRef', 'The role a binding grants.', {
  apiGroup: string(1, 'Group of the role.', { required: true }),
  kind: string(2, 'ClusterRole, or Role in a RoleBinding.', { required: true, mayBeEmpty: true }),
  name: string(3, 'Name of the role.', { required: true })
}, {
  structType: 'atomic',
  validate: (ref, at, report) => validateRoleRef(ref, at, report),
  validateUpdate: (ref, old, at, report) => validateRoleRefUpdate(ref, old, at, report)
})

export const subjects = list(2, 'Who the role is granted to.', Subject)

function validateSubject (subject: Subject, at: string, report: Report): void {
  const groupMustBe = (group: string) => {
    if ((subject.apiGroup ?? '') === group) return
    notSupported(report, `${at}.apiGroup`, subject.apiGroup ?? '', [group])
  }
  switch (subject.kind) {
    case 'ServiceAccount': {
      if (subject.name !== '') checkName(report, `${at}.name`, subject.name, dnsSubdomain)
      groupMustBe('')
      return
    }
    case 'User': case 'Group': groupMustBe(RBAC_GROUP); return
    default:
      notSupported(report, `${at}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group'])
  }
}

/** A ClusterRoleBinding has no namespace, so service accounts must name theirs. */
export function validateClusterSubjects (subjects: readonly Subject[], report: Report): void {
  subjects.forEach(({ kind, namespace }, index) => {
    if (kind === 'ServiceAccount' && !namespace) required(report, `subjects[${index}].namespace`)
  })
}

function validateRoleRef (ref: RoleRef, at: string, report: Report): void {
  if (ref.apiGroup !== '' && ref.apiGroup !== RBAC_GROUP) {
    notSupported(report, `${at}.apiGroup`, ref.apiGroup, [RBAC_GROUP])
  }
  checkName(report, `${at}.name`, ref.name, pathSegment)
}

export function validateRoleKind ({ kind }: RoleRef, kinds: readonly string[], report: Report): void {
  if (!kinds.includes(kind)) notSupported(report, 'roleRef.kind', kind, kinds)
}

function validateRoleRefUpdate (ref: RoleRef, old: RoleRef, at: string, report: Report): void {
  if (ref.apiGroup === old.apiGroup && ref.kind === old.kind && ref.name === old.name) return
  invalid(report, at, ref, 'cannot change roleRef')
}

interface Binding extends ApiObject { subjects?: Subject[] | undefined, roleRef: RoleRef }

const subjectsOf = (kind: string, show: (subject: Subject) => string) => ({ subjects }: Binding) =>
  (subjects ?? []).filter(subject => subject.kind === kind).map(show).join(', ')

export const bindingColumns: ReadonlyArray<Column<Binding>> = [
  name,
  {
    name:
      'Role', type: 'string', format: '', description: 'The role that is granted.', priority: 0, cell: ({ roleRef }) =>
    `${roleRef.kind}/${roleRef.name}`
  },
  age,
  {
    name: 'Users', type: 'string', format: '', description: 'Users it is granted to.', priority: 1, cell: subjectsOf(
      'User', subject => subject.name
    )
  },
  {
    name: 'Groups', type: 'string', format: '', description: 'Groups it is granted to.', priority: 1, cell: subjectsOf(
      'Group', subject => subject.name
    )
  },
  {
    name: 'ServiceAccounts', type: 'string', format: '', description: 'Service accounts it is granted to.', priority: 1,
    cell: subjectsOf('ServiceAccount', subject => `${subject.namespace ?? ''}/${subject.name}`)
  }
]
