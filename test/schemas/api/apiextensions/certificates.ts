/** A definition as in real life: references, nested lists and maps, every form of a schema. */
const named = (description: string, more: object = {}) => ({
  description,
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1, maxLength: 253 }, ...more }
})

export const definition = {
  kind: 'CustomResourceDefinition',
  apiVersion: 'apiextensions.orch.io/v1',
  metadata: {
    name: 'certificates.pki.example.com', creationTimestamp: null, annotations: { 'example.com/version': '1.8.0' }
  },
  spec: {
    group: 'pki.example.com',
    names: {
      plural: 'certificates',
      singular: 'certificate',
      shortNames: ['cert', 'certs'],
      kind: 'Certificate',
      listKind: 'CertificateList',
      categories: ['pki']
    },
    scope: 'Namespaced',
    versions: [{
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          description: 'A certificate <that> is & stays valid.',
          type: 'object',
          required: ['spec'],
          properties: {
            apiVersion: { type: 'string' },
            metadata: { type: 'object' },
            spec: {
              type: 'object',
              required: ['issuerRef', 'secretName'],
              properties: {
                additionalOutputFormats: {
                  type: 'array',
                  maxItems: 9007199254740993n,
                  items: { type: 'object', properties: { type: { type: 'string', enum: ['DER', 'CombinedPEM'] } } },
                  'x-orch-list-map-keys': ['type'],
                  'x-orch-list-type': 'map'
                },
                duration: { type: 'string', default: '2160h', pattern: '^[0-9]+h$' },
                issuerRef: named('Who issues.', {
                  kind: { type: 'string', default: 'Issuer' }, group: { type: 'string', nullable: true }
                }),
                keystores: {
                  type: 'object', properties: { jks: named('Java.', { create: { type: 'boolean', default: false } }) }
                },
                labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 0 } },
                open: { type: 'object', additionalProperties: true },
                closed: { type: 'object', additionalProperties: false },
                parameters: {
                  type: 'object', default: { a: [1, null, { b: 1.5 }] }, 'x-orch-preserve-unknown-fields': true
                },
                pair: {
                  type: 'array',
                  items: [{ type: 'string' }, { type: 'integer', multipleOf: 0.5 }],
                  additionalItems: false
                },
                port: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }], 'x-orch-int-or-string': true },
                rotation: { type: 'string', enum: ['Never', null, 3] },
                tree: {
                  type: 'object',
                  dependencies: { a: ['b', 'c'], d: { required: ['e'], not: { type: 'null' } } },
                  patternProperties: { '^x-': { type: 'string' } }
                }
              }
            },
            status: {
              type: 'object',
              properties: {
                revision: {
                  type: 'integer',
                  format: 'int64',
                  'x-orch-validations': [{ rule: 'self >= oldSelf', message: 'may not fall' }]
                }
              }
            }
          }
        }
      },
      subresources: {
        status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
      },
      additionalPrinterColumns: [
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Age', type: 'date', priority: 1, jsonPath: '.metadata.creationTimestamp' }
      ]
    }],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { namespace: 'pki', name: 'webhook', port: 443 } }, conversionReviewVersions: ['v1']
      }
    }
  },
  status: {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1']
  }
}
