process CLUSTREP_RUN {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "clustrep:0.1.0" // pipelines/Dockerfile

    input:
    tuple val(meta), path(studies)

    output:
    tuple val(meta), path("${prefix}/report.html")      , emit: report
    tuple val(meta), path("${prefix}/*.csv")            , emit: tables
    tuple val(meta), path("${prefix}/result.npz")       , emit: result
    tuple val(meta), path("${prefix}/clusters.npz")     , emit: clusters, optional: true
    tuple val(meta), path("${prefix}/figures/*")        , emit: figures, optional: true
    path "${prefix}/clustrep_mqc.json"                  , emit: multiqc
    path "versions.yml"                                 , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: '--k 2:8'
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    clustrep run ${studies} ${args} --jobs ${task.cpus} --out ${prefix} --quiet

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        clustrep: \$(clustrep --version | sed 's/clustrep //')
    END_VERSIONS
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    mkdir -p ${prefix}
    touch ${prefix}/report.html ${prefix}/findings.csv ${prefix}/result.npz ${prefix}/clustrep_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        clustrep: \$(clustrep --version | sed 's/clustrep //')
    END_VERSIONS
    """
}
