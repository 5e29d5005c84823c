/**
 * FlowSchema and PriorityLevelConfiguration, for all versions of flowcontrol.apiserver.orch.io. The beta versions keep
 * what v1 added, with which objects are stored.
 */
import { Time } from '../../meta/scalars.js'
import { apiPackage, bool, int32, list, one, string } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { validateFlowConditions, validateFlowSchema } from './rules/flowschemas.js'
import { validatePriorityLevel } from './rules/prioritylevelconfigurations.js'
import type { Fields } from '../../language/types.js'
import type { PriorityLevelConfiguration as StoredLevel } from './v1beta1.js'

/** In the beta versions. */
export const ASSURED = {
  assuredConcurrencyShares: int32(1, 'Share of the concurrency of the server, relative to other levels.', {
    written: true, default: 30
  })
}

/** In v1, where 0 is not the same as unset. */
export const NOMINAL = {
  nominalConcurrencyShares: int32(1, 'Share of the concurrency of the server; by default 30.', {
    written: true, pointer: true, default: 30
  })
}

/** The messages of one version. @param later what fields that came with v1 have beside others */
export function declare<S extends Fields> (
  version: 'v1' | 'v1beta2' | 'v1beta1', shares: S, later: { readonly since?: string }
) {
  const { kind, message } = apiPackage('flowcontrol.apiserver.orch.io', version, `io.orch.api.flowcontrol.${version}`)
  // Strategic merge patches of conditions came with v1.
  const MERGED = version === 'v1' ? { patchStrategy: 'merge', patchMergeKey: 'type' } : {}

  const FlowDistinguisherMethod =
    message('FlowDistinguisherMethod', 'How requests of a schema are divided into flows.', {
      type: string(1, 'By what they are divided: ByUser or ByNamespace.', {
        required: true, mayBeEmpty: true, values: ['ByUser', 'ByNamespace']
      })
    })

  const PriorityLevelConfigurationReference =
    message('PriorityLevelConfigurationReference', 'A priority level, by name.', {
      name: string(1, 'Name of the priority level.', { required: true, mayBeEmpty: true })
    })

  const UserSubject = message('UserSubject', 'Users, by name.', {
    name: string(1, 'Name of the user; * matches all.', { required: true })
  })

  const GroupSubject = message('GroupSubject', 'Users of a group.', {
    name: string(1, 'Name of the group; * matches all.', { required: true })
  })

  const ServiceAccountSubject = message('ServiceAccountSubject', 'Service accounts, by namespace and name.', {
    namespace: string(1, 'Namespace of the service account.', { required: true, mayBeEmpty: true }),
    name: string(2, 'Name of the service account; * matches all.', { required: true, mayBeEmpty: true })
  })

  const Subject = message('Subject', 'Who makes requests: a user, a group or a service account.', {
    kind: string(1, 'Which member applies: User, Group or ServiceAccount.', {
      required: true, mayBeEmpty: true, values: ['User', 'Group', 'ServiceAccount'], discriminator: true
    }),
    user: one(2, 'User that is meant, for kind User.', UserSubject, { pointer: true }),
    group: one(3, 'Group that is meant, for kind Group.', GroupSubject, { pointer: true }),
    serviceAccount: one(
      4, 'Service account that is meant, for kind ServiceAccount.', ServiceAccountSubject, { pointer: true }
    )
  })

  const ResourcePolicyRule = message('ResourcePolicyRule', 'Requests about resources; all members must match.', {
    verbs: list(1, 'Verbs of the requests; * matches all.', 'string', { required: true, listType: 'set' }),
    apiGroups: list(2, 'API groups of the resources; * matches all.', 'string', { required: true, listType: 'set' }),
    resources: list(3, 'Resources in plural, such as pods/status; * matches all.', 'string', {
      required: true, listType: 'set'
    }),
    clusterScope: bool(4, 'Whether requests without a namespace match.'),
    namespaces: list(5, 'Namespaces of the requests; * matches all.', 'string', { written: true, listType: 'set' })
  })

  const NonResourcePolicyRule = message('NonResourcePolicyRule', 'Requests that are not about resources.', {
    verbs: list(1, 'Verbs of the requests; * matches all.', 'string', { required: true, listType: 'set' }),
    nonResourceURLs: list(6, 'Paths of the requests, such as /healthz; * matches all.', 'string', {
      required: true, listType: 'set'
    })
  })

  const PolicyRulesWithSubjects =
    message('PolicyRulesWithSubjects', 'Who makes requests of what kind; both must match.', {
      subjects: list(1, 'Who makes the requests; one must match.', Subject, { required: true, listType: 'atomic' }),
      resourceRules: list(2, 'Requests about resources that match.', ResourcePolicyRule, { listType: 'atomic' }),
      nonResourceRules: list(3, 'Requests for other paths that match.', NonResourcePolicyRule, { listType: 'atomic' })
    })

  const FlowSchemaSpec = message('FlowSchemaSpec', 'Which requests match, and how they are treated.', {
    priorityLevelConfiguration: one(
      1, 'Priority level of the requests.', PriorityLevelConfigurationReference, { required: true }
    ),
    matchingPrecedence: int32(2, 'Order among schemas, from 1 to 10000; the lowest match wins.', {
      written: true, default: 1000
    }),
    distinguisherMethod: one(
      3, 'How requests are divided into flows; unset means a single flow.', FlowDistinguisherMethod, { pointer: true }
    ),
    rules: list(4, 'Rules of which a request must match one.', PolicyRulesWithSubjects, { listType: 'atomic' })
  })

  const FlowSchemaCondition = message('FlowSchemaCondition', 'A finding about a flow schema.', {
    type: string(1, 'Type of the condition, such as Dangling.'),
    status: string(2, 'Whether it holds: True, False or Unknown.', { values: ['True', 'False', 'Unknown'] }),
    lastTransitionTime: one(3, 'When status last changed.', Time),
    reason: string(4, 'One word for a machine.'),
    message: string(5, 'A sentence for a person.')
  })

  const FlowSchemaStatus = message('FlowSchemaStatus', 'What is observed of a flow schema.', {
    conditions: list(1, 'What was found about the schema.', FlowSchemaCondition, {
      listType: 'map', listMapKeys: ['type'], ...MERGED
    })
  }, {
    validate: ({ conditions = [] }, at, report) => {
      validateFlowConditions(conditions, `${at}.conditions`, report)
    }
  })

  const FlowSchema = kind('FlowSchema', 'Sorts requests to the API server into flows of a priority level.', {
    metadata,
    spec: one(2, 'Which requests it matches, and their priority level.', FlowSchemaSpec),
    status: one(3, 'What is observed of the schema; written by the system.', FlowSchemaStatus)
  }, { validate: (schema, _at, report) => { validateFlowSchema(schema, report) } })

  const QueuingConfiguration = message('QueuingConfiguration', 'Settings of the queues of a priority level.', {
    queues: int32(1, 'Number of queues; by default 64.', { written: true, default: 64 }),
    handSize: int32(2, 'Number of queues each flow may use; by default 8.', { written: true, default: 8 }),
    queueLengthLimit: int32(3, 'Most requests that may wait in one queue; by default 50.', {
      written: true, default: 50
    })
  })

  const LimitResponse = message('LimitResponse', 'What happens to requests that cannot run right away.', {
    type: string(1, 'Whether they are put in a Queue or met with Reject.', {
      required: true, mayBeEmpty: true, values: ['Queue', 'Reject'], discriminator: true
    }),
    queuing: one(2, 'Settings of the queues, for type Queue.', QueuingConfiguration, { pointer: true })
  })

  /** Beta versions have no default for it: what they do not say stays away. */
  const lendable = { pointer: true, ...later, ...(version === 'v1' ? { default: 0 } : {}) } as const

  const ExemptPriorityLevelConfiguration =
    message('ExemptPriorityLevelConfiguration', 'Seats that a level without limits reserves.', {
      nominalConcurrencyShares: int32(1, 'Share of the concurrency of the server, relative to other levels.', {
        pointer: true, default: 0
      }),
      lendablePercent: int32(2, 'Percentage of its seats that other levels may use.', { pointer: true, default: 0 })
    })

  const LimitedPriorityLevelConfiguration =
    message('LimitedPriorityLevelConfiguration', 'Limits on the requests of a priority level.', {
      ...shares,
      limitResponse: one(2, 'What happens to requests that cannot run right away.', LimitResponse),
      lendablePercent: int32(3, 'Percentage of its seats that other levels may use.', lendable),
      borrowingLimitPercent: int32(4, 'Most seats it may use of others, as percentage of its own; unset: all.', {
        pointer: true, ...later
      })
    })

  const PriorityLevelConfigurationSpec =
    message('PriorityLevelConfigurationSpec', 'Whether and how the requests of a level are limited.', {
      type: string(1, 'Whether requests are Limited or Exempt.', {
        required: true, mayBeEmpty: true, values: ['Exempt', 'Limited'], discriminator: true
      }),
      limited: one(2, 'Limits on the requests, for type Limited.', LimitedPriorityLevelConfiguration, {
        pointer: true
      }),
      exempt: one(3, 'Seats that a level reserves, for type Exempt.', ExemptPriorityLevelConfiguration, {
        pointer: true, ...later
      })
    })

  const PriorityLevelConfigurationCondition =
    message('PriorityLevelConfigurationCondition', 'A finding about a priority level.', {
      type: string(1, 'Type of the condition.'),
      status: string(2, 'Whether it holds: True, False or Unknown.', { values: ['True', 'False', 'Unknown'] }),
      lastTransitionTime: one(3, 'When status last changed.', Time),
      reason: string(4, 'One word for a machine.'),
      message: string(5, 'A sentence for a person.')
    })

  const PriorityLevelConfigurationStatus =
    message('PriorityLevelConfigurationStatus', 'What is observed of a priority level.', {
      conditions: list(1, 'What was found about the priority level.', PriorityLevelConfigurationCondition, {
        listType: 'map', listMapKeys: ['type'], ...MERGED
      })
    }, {
      validate: ({ conditions = [] }, at, report) => {
        validateFlowConditions(conditions, `${at}.conditions`, report)
      }
    })

  const PriorityLevelConfiguration =
    kind('PriorityLevelConfiguration', 'How many requests of a priority the API server runs.', {
      metadata,
      spec: one(2, 'Whether and how requests are limited.', PriorityLevelConfigurationSpec),
      status: one(3, 'What is observed of the priority level; written by the system.', PriorityLevelConfigurationStatus)
    }, {
      // Objects are validated in their stored form.
      validate: (level, _at, report) => { validatePriorityLevel(level as unknown as StoredLevel, report) }
    })

  return {
    FlowDistinguisherMethod, PriorityLevelConfigurationReference, UserSubject, GroupSubject, ServiceAccountSubject,
    Subject, ResourcePolicyRule, NonResourcePolicyRule, PolicyRulesWithSubjects, FlowSchemaSpec, FlowSchemaCondition,
    FlowSchemaStatus, FlowSchema, QueuingConfiguration, LimitResponse, ExemptPriorityLevelConfiguration,
    LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec, PriorityLevelConfigurationCondition,
    PriorityLevelConfigurationStatus, PriorityLevelConfiguration
  }
}
