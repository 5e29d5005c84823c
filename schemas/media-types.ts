/** What the forms of a body are called on the wire, in Content-Type, in Accept and in `--storage-media-type`. */
export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const PROTOBUF_TYPE = 'application/vnd.orch.protobuf'

/** What PATCH takes; strategic merge and apply join when they are built. */
export const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json'] as const
export type PatchType = (typeof PATCH_TYPES)[number]
