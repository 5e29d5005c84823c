/** The public types of apiextensions.orch.io/v1. */
export { ConversionRequest, ConversionResponse, ConversionReview } from './conversion-review.js'
export { CustomResourceConversion, ServiceReference, WebhookClientConfig, WebhookConversion } from './conversion.js'
export {
  CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames, CustomResourceDefinitionSpec, CustomResourceDefinitionStatus,
  CustomResourceDefinitionVersion, CustomResourceSubresourceScale, CustomResourceSubresourceStatus,
  CustomResourceSubresources, CustomResourceValidation, SelectableField
} from './customresourcedefinitions.js'
export {
  ExternalDocumentation, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
  JSONSchemaPropsOrStringArray, ValidationRule
} from './schemas.js'
