/** ServiceCIDR and IPAddress, for both versions of networking.orch.io. */
import { Condition } from '../../meta/answers.js'
import { apiPackage, list, one, string } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import {
  validateAddressReference, validateCIDRs, validateCIDRsUpdate, validateParentUpdate
} from './rules/addresses.js'

/** The messages of one version. */
export function declare (version: 'v1' | 'v1beta1') {
  const { kind, message } = apiPackage('networking.orch.io', version, `io.orch.api.networking.${version}`)

  const ParentReference = message('ParentReference', 'The object that has an address.', {
    group: string(1, 'API group of the object; empty for the core group.'),
    resource: string(2, 'Resource of the object in plural, such as services.', { required: true, mayBeEmpty: true }),
    namespace: string(3, 'Namespace of the object.'),
    name: string(4, 'Name of the object.', { required: true, mayBeEmpty: true })
  })

  const IPAddressSpec = message('IPAddressSpec', 'Who has an address.', {
    parentRef: one(1, 'Object that has the address; does not change.', ParentReference, {
      required: true, pointer: true, immutable: 'ruled'
    })
  }, {
    validate: ({ parentRef }, at, report) => { validateAddressReference(parentRef, `${at}.parentRef`, report) },
    validateUpdate: (spec, old, at, report) => { validateParentUpdate(spec, old, at, report) }
  })

  const IPAddress = kind('IPAddress', 'An IP address that is taken. Its name is the address in its usual form.', {
    metadata,
    spec: one(2, 'Who has the address.', IPAddressSpec, { required: true })
  })

  const ServiceCIDRSpec = message('ServiceCIDRSpec', 'Ranges of addresses for services.', {
    cidrs: list(1, 'One range, or one of each IP family; a second one may be added, and nothing else changes.',
      'string', { listType: 'atomic', immutable: 'ruled', holds: 'cidr' })
  }, {
    validate: (spec, at, report) => { validateCIDRs(spec, at, report) },
    validateUpdate: (spec, old, at, report) => { validateCIDRsUpdate(spec, old, at, report) }
  })

  const ServiceCIDRStatus = message('ServiceCIDRStatus', 'What is observed of ranges of service addresses.', {
    conditions: list(1, 'What was found about the ranges, such as Ready.', Condition, {
      listType: 'map', listMapKeys: ['type'], patchStrategy: 'merge', patchMergeKey: 'type'
    })
  })

  const ServiceCIDR = kind('ServiceCIDR', 'Ranges from which services get their cluster IPs.', {
    metadata,
    spec: one(2, 'The ranges.', ServiceCIDRSpec),
    status: one(3, 'What is observed of the ranges.', ServiceCIDRStatus)
  })

  return {
    ParentReference, IPAddressSpec, IPAddress, ServiceCIDRSpec, ServiceCIDRStatus, ServiceCIDR
  }
}
