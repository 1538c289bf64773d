from .separation import density_valleys as density_valleys
